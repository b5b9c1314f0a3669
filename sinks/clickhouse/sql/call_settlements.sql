-- Every attempt at settling one call, the latest first.
SELECT * FROM settlements FINAL WHERE call = {call:String} ORDER BY attempt DESC
