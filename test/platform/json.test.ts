import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../server/platform/http/json.ts';

const twice = (name: string) => `${name} must be given once`;

describe('a JSON body', () => {
  it('has the same value as by JSON.parse, for any input', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    ['of the same name in two objects', '[{"a":1},{"a":1},{"b":{"a":1},"a":{"a":1}}]'],
    ['in the text of a string', '{"a":"{\\"a\\":1,\\"a\\":2}","b":"a\\":","c":["a","a"]}'],
    ['that differ in their case', '{"a":1,"A":2}'],
  ])('can have members %s', (_, text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['once more at the end', '{"code":"x","b":1,"code":"y"}', 'code'],
    ['with the same value', '{"code":"x","code":"x"}', 'code'],
    ['written with an escape', '{"code":"x","c\\u006fde":"y"}', 'code'],
    ['with space before its colon', '{"code" \n:1,"code"\t : 2}', 'code'],
    ['after an object of its own', '{"a":{"b":[{"c":1}]},"b":[],"a":2}', 'a'],
    ['in an object in a list', '{"a":[1,{"b":2},{"c":1,"d":[],"c":3}]}', 'c'],
    ['in an object in an unknown member', '{"code":"x","more":{"deep":{"n":1,"n":2}}}', 'n'],
    ['with an empty name', '{"":1,"":2}', 'A parameter'],
    ['with a name of other characters', '{"a \\" b":1,"a \\" b":2}', 'A parameter'],
    ['with the name of a prototype', '{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('throws invalid_request and names the member if it repeats a member %s', (_, text, name) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    expect(() => parseJson(text)).toThrow(twice(name));
  });

  it('throws invalid_request if it repeats any member, at any depth, and is accepted without the repetition', () => {
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

  it('can be nested as deeply as 64 KiB allow', () => {
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
