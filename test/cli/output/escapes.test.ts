import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { escapeControls, printable, printableJson } from '../../../cli/output/format.ts';
import { anyText } from '../../harness/any-text.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
});
afterAll(() => server.stop());

const dangerous = /[\p{Cf}\p{Zl}\p{Zp}]|[^\P{Cc}\n\t]/u;

describe('text for a person', () => {
  it.each([
    ['\u001b[31m', '\\x1b[31m'],
    ['\u009b31m', '\\x9b31m'],
    ['\u0007\r\b', '\\x07\\x0d\\x08'],
    ['a\u202eb\u2066c', 'a\\u202eb\\u2066c'],
    ['a\u200bb\u2028', 'a\\u200bb\\u2028'],
    ['a\tb\nc', 'a\tb\nc'],
  ])('is printed without control characters: %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('is printed in a table without line ends', () => {
    expect(escapeControls('a\nb\t\u001b')).toBe('a\\x0ab\\x09\\x1b');
  });

  it('has no dangerous character in JSON either, and the JSON has the same value', () => {
    fc.assert(
      fc.property(fc.dictionary(anyText(), anyText()), fc.constantFrom(0, 2), (value, indent) => {
        const json = printableJson(value, indent);
        expect(json).not.toMatch(dangerous);
        expect(JSON.parse(json)).toEqual(value);
      }),
    );
  });
});

describe('a command line with control characters in its arguments', () => {
  const evil = 'x\u001b]0;owned\u0007\u009b31m\u202e';

  it.each([
    ['an id', ['partners', 'show', evil]],
    ['a command', [evil]],
    ['a flag', ['partners', 'list', `--${evil}`]],
    ['a value', ['partners', 'list', '--where', evil]],
    ['a search', ['show', evil]],
    ['a time', ['wallets', 'statement', 'ptr_0000000000000000000000', '--from', evil]],
    ['a dry run', ['partners', 'suspend', evil, '--dry-run']],
  ])('does not send them to the terminal (%s)', async (_what, args) => {
    for (const more of [[], ['--json']]) {
      const { stdout, stderr } = await svcadmin.run([...args, ...more]);
      expect(`${stdout}${stderr}`).not.toMatch(dangerous);
      expect(`${stdout}${stderr}`).not.toBe('');
    }
  });
});
