UPDATE records SET                            -- what a state from elsewhere may have brought in, and no recall can bear
    strength = CASE WHEN strength BETWEEN 0 AND 1 THEN strength ELSE 1 END,
    boost = CASE WHEN boost BETWEEN -1 AND 1 THEN boost ELSE 0 END,
    warmth = CASE WHEN warmth BETWEEN 0 AND 1e12 THEN warmth ELSE 0 END,
    streak = CASE WHEN streak BETWEEN 0 AND 1000000000000 THEN streak ELSE 0 END,
    credit = CASE WHEN credit BETWEEN 0 AND 1000000000000 THEN credit ELSE 0 END,
    retrieval_count = CASE WHEN retrieval_count BETWEEN 0 AND 1000000000000 THEN retrieval_count ELSE 0 END,
    helpful = CASE WHEN helpful BETWEEN 0 AND 1000000000000 THEN helpful ELSE 0 END,
    unhelpful = CASE WHEN unhelpful BETWEEN 0 AND 1000000000000 THEN unhelpful ELSE 0 END,
    last_read = CASE WHEN last_read BETWEEN -1e15 AND 1e15 THEN last_read END,
    refreshed_at = CASE WHEN refreshed_at BETWEEN -1e15 AND 1e15 THEN refreshed_at END,
    settled_at = CASE WHEN settled_at BETWEEN -1e15 AND 1e15 THEN settled_at END,
    fresh_at = CASE WHEN fresh_at BETWEEN -1e15 AND 1e15 THEN fresh_at END,
    useful_at = CASE WHEN useful_at BETWEEN -1e15 AND 1e15 THEN useful_at END
WHERE NOT (
    strength BETWEEN 0 AND 1 AND boost BETWEEN -1 AND 1 AND warmth BETWEEN 0 AND 1e12
    AND streak BETWEEN 0 AND 1000000000000 AND credit BETWEEN 0 AND 1000000000000
    AND retrieval_count BETWEEN 0 AND 1000000000000
    AND helpful BETWEEN 0 AND 1000000000000 AND unhelpful BETWEEN 0 AND 1000000000000
    AND coalesce(last_read, 0) BETWEEN -1e15 AND 1e15 AND coalesce(refreshed_at, 0) BETWEEN -1e15 AND 1e15
    AND coalesce(settled_at, 0) BETWEEN -1e15 AND 1e15 AND coalesce(fresh_at, 0) BETWEEN -1e15 AND 1e15
    AND coalesce(useful_at, 0) BETWEEN -1e15 AND 1e15
);
