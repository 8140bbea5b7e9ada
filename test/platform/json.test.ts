import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepestNesting, mostValues } from '../../contracts/input-text.ts';
import { bodyText } from '../../server/platform/http/body-text.ts';
import { parseJson } from '../../server/platform/http/json.ts';

const twice = (name: string) => `${name} must be given once`;

describe('the parser of JSON bodies', () => {
  it('returns the same value as JSON.parse for any valid JSON without repeated members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    ['of the same name in different objects', '[{"a":1},{"a":1},{"b":{"a":1},"a":{"a":1}}]'],
    ['that seem repeated in the text of a string', '{"a":"{\\"a\\":1,\\"a\\":2}","b":"a\\":","c":["a","a"]}'],
    ['whose names differ only in letter case', '{"a":1,"A":2}'],
  ])('accepts members %s', (_, text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['has another value', '{"code":"x","b":1,"code":"y"}', 'code'],
    ['has the same value', '{"code":"x","code":"x"}', 'code'],
    ['has an escape in its name', '{"code":"x","c\\u006fde":"y"}', 'code'],
    ['has white space before its colon', '{"code" \n:1,"code"\t : 2}', 'code'],
    ['follows a member that is an object', '{"a":{"b":[{"c":1}]},"b":[],"a":2}', 'a'],
    ['is in an object in a list', '{"a":[1,{"b":2},{"c":1,"d":[],"c":3}]}', 'c'],
    ['is in a nested object', '{"code":"x","more":{"deep":{"n":1,"n":2}}}', 'n'],
    ['has the name __proto__', '{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('throws invalid_request with the name of a repeated member that %s', (_, text, name) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    expect(() => parseJson(text)).toThrow(twice(name));
  });

  it.each([
    ['empty', '{"":1,"":2}', 'A parameter'],
    ['not made of word characters', '{"a \\" b":1,"a \\" b":2}', 'A parameter'],
  ])('throws invalid_request without the name of a repeated member if the name is %s', (_, text, name) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    expect(() => parseJson(text)).toThrow(twice(name));
  });

  it('refuses a repetition of any member at any depth, and accepts the same body without it', () => {
    const names = fc.string({ minLength: 1 });
    const nested = fc.array(fc.constantFrom('list', 'object'), { maxLength: 20 });
    fc.assert(
      fc.property(names, fc.jsonValue(), nested, (name, value, levels) => {
        const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
        const wrap = (text: string, level: string) => (level === 'list' ? `[1,${text}]` : `{"x":${text}}`);
        expect(() => parseJson(levels.reduce(wrap, `{${member},${member}}`))).toThrow(/must be given once/);
        expect(() => parseJson(levels.reduce(wrap, `{${member}}`))).not.toThrow();
      }),
    );
  });

  it('accepts 32 nested lists or objects, finds a repeated member in the innermost, and refuses deeper ones', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nest = (depth: number, inner: string) => `${open.repeat(depth)}${inner}${close.repeat(depth)}`;
      expect(() => parseJson(nest(deepestNesting, '1'))).not.toThrow();
      expect(() => parseJson(nest(deepestNesting, '{"b":1,"b":2}'))).toThrow(twice('b'));
      for (const depth of [deepestNesting + 1, 1_000, 10_000])
        expect(() => parseJson(nest(depth, '1'))).toThrow('The request is nested deeper than 32 levels');
    }
  });

  it('accepts 2,000 values, and refuses more', () => {
    expect(() => parseJson(JSON.stringify(Array(mostValues).fill(1)))).not.toThrow();
    for (const more of [
      Array(mostValues + 1).fill(1),
      { a: Array(1_500).fill({}), b: Array(1_500).fill([]) },
    ])
      expect(() => parseJson(JSON.stringify(more))).toThrow('The request has more than 2000 values');
  });

  it.each([
    ['a lone surrogate in a text', '{"a":{"b":["x","y\\ud800"]}}', 'a.b.1 has U+D800 at position 2'],
    ['a lone surrogate in a name', '{"\\udfff":1}', 'The name of a value has U+DFFF at position 1'],
    ['NUL in a text', '["\\u0000"]', '0 has U+0000 at position 1'],
    ['NUL in a name', '{"a":{"b\\u0000":1}}', 'The name of a value has U+0000 at position 2'],
    ['a fault behind a name that is not plain', '{"a b":"\\ud83d"}', 'A value has U+D83D at position 1'],
  ])('throws invalid_request that says where there is %s', (_, text, message) => {
    expect(() => parseJson(text)).toThrow(`${message}: text must be well-formed Unicode without NUL`);
  });

  it('accepts characters outside of the basic plane, as they are or as two escapes', () => {
    expect(parseJson('["\u{1f600}","\\ud83d\\ude00"]')).toEqual(['\u{1f600}', '\u{1f600}']);
  });
});

describe('the text of a body', () => {
  it('is without the byte order mark before it', () => {
    expect(bodyText(Buffer.from('\uFEFF{}'))).toBe('{}');
  });

  it.each([
    ['a cut character', [0x22, 0xe2, 0x82, 0x22]],
    ['an overlong NUL', [0x22, 0xc0, 0x80, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['Latin-1', [0x22, 0xe9, 0x22]],
    ['UTF-16 with its byte order mark', [0xff, 0xfe, 0x7b, 0x00]],
  ])('is refused with invalid_request for %s', (_, bytes) => {
    expect(() => bodyText(Buffer.from(bytes))).toThrow('The request body is not UTF-8');
  });
});
