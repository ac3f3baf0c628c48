-- A function of an instant t, in microseconds, that a business calendar gives.
CREATE OR REPLACE MACRO /*$name*/(t) AS /*$tree*/
