-- A number a table that every insert raises and no merge does: what a page asks before it reads anew.
SELECT table, max(max_block_number) AS block
FROM system.parts
WHERE database = currentDatabase() AND active AND table IN {tables:Array(String)}
GROUP BY table
ORDER BY table
