-- The latest return curve of one Arena record, a row a day; the stored curve starts at 1 (Rule A8).
SELECT toDateTime(point.1, 'UTC') AS at, point.2 - 1 AS total_return
FROM current_scores ARRAY JOIN curve AS point
WHERE record = {record:String}
ORDER BY at
