SELECT a.night, a.f_rid, w.rid FROM again a JOIN was_results w ON w.link = a.link
