-- The latest return curve of one Arena record, a row a day.
SELECT toDateTime(point.1, 'UTC') AS at, point.2 AS total_return
FROM current_scores ARRAY JOIN curve AS point
WHERE record = {record:String}
ORDER BY at
