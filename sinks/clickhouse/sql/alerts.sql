-- What a person should see, the newest first.
SELECT id, at, severity, kind, subject, coin, agent, reason, text
FROM alerts FINAL
WHERE ({severity:String} = '' OR severity = {severity:String})
    AND ({kind:String} = '' OR kind = {kind:String})
