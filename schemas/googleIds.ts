// Ids of Google's classes and objects: `issuerId.suffix`, the suffix of letters, digits, `.`, `_` and `-` alone. Making
// and parsing are each other's inverse, so a callback's object id leads back to one member and to no other.
const plainByte = /[A-Za-z0-9_-]/;

/** The class of a program: one class for each, made once and never deleted. */
export function makeGoogleClassId(issuerId: string, programId: string): string {
  return `${issuerId}.program-${escapeSuffix(programId)}`;
}

/** The program of a class; null for an id of another issuer or one that was not made here. */
export function parseGoogleClassId(issuerId: string, classId: string): string | null {
  return parse(`${issuerId}.program-`, classId);
}

export function makeGoogleObjectId(issuerId: string, memberId: string): string {
  return `${issuerId}.member-${escapeSuffix(memberId)}`;
}

/** The member of an object; null for an id of another issuer or one that was not made here. */
export function parseGoogleObjectId(issuerId: string, objectId: string): string | null {
  return parse(`${issuerId}.member-`, objectId);
}

function parse(prefix: string, id: string): string | null {
  if (!id.startsWith(prefix)) return null;
  const suffix = id.slice(prefix.length);
  const plain = unescapeSuffix(suffix);
  return plain !== '' && escapeSuffix(plain) === suffix ? plain : null;
}

/** A byte that Google would refuse becomes `.` and two hexadecimal digits. */
function escapeSuffix(plain: string): string {
  const bytes = [...new TextEncoder().encode(plain)];
  return bytes
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return plainByte.test(character) ? character : `.${byte.toString(16).padStart(2, '0')}`;
    })
    .join('');
}

function unescapeSuffix(suffix: string): string {
  const percented = suffix.replace(/[^A-Za-z0-9_.-]/gu, '').replace(/\.([0-9a-f]{2})/g, '%$1');
  try {
    return decodeURIComponent(percented);
  } catch {
    return '';
  }
}
