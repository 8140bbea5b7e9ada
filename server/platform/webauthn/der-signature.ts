const sequence = 0x30;
const integer = 0x02;
/** The most bytes of an INTEGER in a signature on P-256: 32, and a zero that makes it positive. */
const longestInteger = 33;

/** Returns the bytes after a positive INTEGER of the fewest bytes. Undefined if there is no such INTEGER. */
function afterInteger(bytes: Uint8Array): Uint8Array | undefined {
  const [tag, length = 0, first = 0, second = 0] = bytes;
  const hasLength = length > 0 && length <= longestInteger && bytes.length >= 2 + length;
  const isPadded = length > 1 && first === 0 && second < 0x80;
  const isRead = tag === integer && hasLength && first < 0x80 && !isPadded;
  return isRead ? bytes.subarray(2 + length) : undefined;
}

/** Whether a signature on P-256 is in DER (RFC 3279 2.2.3, X.690 10). A parser of BER also accepts other encodings. */
export function isDerSignature(signature: Uint8Array): boolean {
  const [tag, length] = signature;
  if (tag !== sequence || length !== signature.length - 2) return false;
  const rest = afterInteger(signature.subarray(2));
  return rest !== undefined && afterInteger(rest)?.length === 0;
}
