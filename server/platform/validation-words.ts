/** The usual messages of the validator, and what they tell a person to do. */
const wordings: readonly (readonly [pattern: RegExp, instruction: string])[] = [
  [/^.*received undefined$/, 'is required'],
  [/^Invalid input: expected int, received \w+$/, 'must be a whole number'],
  [/^Invalid input: expected number, received \w+$/, 'must be a number'],
  [/^Invalid input: expected (\w+), received \w+$/, 'must be of type $1'],
  [/^Invalid input: expected "(.+)"$/, 'must be $1'],
  [/^Too small: expected \w+ to have >=1 \w+$/, 'must not be empty'],
  [/^Too small: expected \w+ to have >=(\d+) (\w+)$/, 'must have at least $1 $2'],
  [/^Too big: expected \w+ to have <=(\d+) (\w+)$/, 'must have at most $1 $2'],
  [/^Too small: expected (?:number|int) to be >=(-?[\d.]+)$/, 'must be at least $1'],
  [/^Too big: expected (?:number|int) to be <=(-?[\d.]+)$/, 'must be at most $1'],
];

/** Turns a message of the validator into an instruction. Undefined for a message that the schema itself defines. */
export function instructionOf(message: string): string | undefined {
  const found = wordings.find(([pattern]) => pattern.test(message));
  if (found) return message.replace(...found);
  const options = /^Invalid option: expected one of (.+)$/.exec(message)?.[1];
  return options && `must be one of ${options.replaceAll('"', '').split('|').join(', ')}`;
}
