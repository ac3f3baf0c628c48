package scan

import "reflect"

// Walk masks every text that is reached from a value, which must be settable: fields of
// structs, members of lists and maps. leave, which may be nil, tells what stays as it is:
// f is the field in which a value stands, nil where it stands in none.
func Walk(v reflect.Value, leave func(v reflect.Value, f *reflect.StructField) bool) (n Counts) {
	walk(v, nil, leave, &n)
	return n
}

func walk(v reflect.Value, f *reflect.StructField, leave func(reflect.Value, *reflect.StructField) bool, n *Counts) {
	if leave != nil && leave(v, f) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		text, found := Mask(v.String())
		if found.Sum() > 0 && v.CanSet() {
			v.SetString(text)
			n.Add(found)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), nil, leave, n)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), nil, leave, n)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(k))
			walk(value, nil, leave, n)
			v.SetMapIndex(k, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if of := v.Type().Field(i); of.IsExported() {
				walk(v.Field(i), &of, leave, n)
			}
		}
	}
}
