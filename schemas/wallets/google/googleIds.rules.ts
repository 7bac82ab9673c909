// Ids of Google's classes and objects: `issuerId.suffix`, where the suffix has only letters, digits, `.`, `_` and `-`.
// An object id can be parsed back, so the one in a callback identifies exactly one member.
const plainByte = /[A-Za-z0-9_-]/;

/** The class id of a program. Each program has one class, which is created once and never deleted. */
export function makeGoogleClassId(issuerId: string, programId: string): string {
  return `${issuerId}.program-${escapeSuffix(programId)}`;
}

export function makeGoogleObjectId(issuerId: string, memberId: string): string {
  return `${issuerId}.member-${escapeSuffix(memberId)}`;
}

/** The member of an object id; null for an object of another issuer or one that this service did not create. */
export function parseGoogleObjectId(issuerId: string, objectId: string): string | null {
  const prefix = `${issuerId}.member-`;
  if (!objectId.startsWith(prefix)) return null;
  const suffix = objectId.slice(prefix.length);
  const plain = unescapeSuffix(suffix);
  return plain !== '' && escapeSuffix(plain) === suffix ? plain : null;
}

/** Replaces each byte that Google would refuse, and `.` itself, with `.` and two hexadecimal digits. */
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
