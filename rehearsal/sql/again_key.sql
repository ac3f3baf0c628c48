SELECT f.night, f.rid AS f_rid, o.rid FROM former f JOIN operations o ON /*$key*/ = /*$former*/
