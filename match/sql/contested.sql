-- The residual rows of one side whose links the passes find.
CREATE OR REPLACE /*$kind*/ /*$table*/ AS
SELECT * FROM /*$residual*//*$wanted*/
