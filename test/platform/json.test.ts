import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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

  it('accepts lists and objects nested as deeply as 64 KiB allow, and finds a repeated member in the innermost', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const depth = Math.floor(65_000 / (open.length + close.length));
      expect(() => parseJson(`${open.repeat(depth)}1${close.repeat(depth)}`)).not.toThrow();
      const deepest = `{"b":1,"b":2}`;
      expect(() => parseJson(`${open.repeat(depth)}${deepest}${close.repeat(depth)}`)).toThrow(twice('b'));
    }
  });
});
