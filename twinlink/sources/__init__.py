"""Documents from anywhere: WARC, WACZ, CDX indexes, mirrors, HTTrack caches, and lists of files."""
