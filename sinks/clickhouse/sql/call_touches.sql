-- When a call's level was reached.
SELECT candle_open_time, level, side, reached FROM touches FINAL WHERE call = {call:String} ORDER BY candle_open_time
