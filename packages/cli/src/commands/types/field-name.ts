const PLAIN = /^[A-Za-z_$][\w$-]{0,63}$/;
/** Of an id or a number of a person. Names of fields have less. */
const MOST_DIGITS = 2;
/** Terms with digits that names of fields contain, such as `sha256`. */
const TERMS = /sha(?:224|256|384|512)|[hx]26[45]|iso(?:639|3166|4217|8601)|utf(?:16|32)|base(?:32|64)/gi;
const HEX = /^[0-9a-f]{8,}$/i;

/**
 * Whether a key of an object is the name of a field. An id, an address or the name of a person is not: such a key is data.
 * A name that every object inherits is not either, because the schema libraries would find it in an object without it.
 */
export function isFieldName(key: string): boolean {
  const digits = key.replaceAll(TERMS, '').replaceAll(/\D/g, '').length;
  return PLAIN.test(key) && digits <= MOST_DIGITS && !HEX.test(key) && !(key in Object.prototype);
}
