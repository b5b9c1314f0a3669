-- The latest score of one Arena record with its parts and curve.
SELECT *, curve.t AS curve_t, curve.v AS curve_v FROM current_scores WHERE record = {record:String}
