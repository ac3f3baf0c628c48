SELECT f.night, f.rid AS f_rid, r.rid FROM former f JOIN results r ON /*$key*/ = /*$former*/
