-- One Arena record as it was opened.
SELECT record, owner, book_id, coins, any_coin, min_horizon_s, max_horizon_s, at
FROM records FINAL WHERE record = {record:String}
