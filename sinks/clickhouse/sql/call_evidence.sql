-- What is stored of the raw answers that a call's settlement rests on.
SELECT sha256, length(body) AS size, lower(hex(SHA256(body))) = sha256 AS intact
FROM evidence FINAL
WHERE sha256 IN {hashes:Array(String)}
