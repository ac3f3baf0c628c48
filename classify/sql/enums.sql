-- The closed lists as types: narrow rows stay narrow.
CREATE TYPE /*$name*/ AS ENUM (/*$values*/)
