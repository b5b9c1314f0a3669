-- One call in full.
SELECT * FROM calls FINAL WHERE id = {call:String}
