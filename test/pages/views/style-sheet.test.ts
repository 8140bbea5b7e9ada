import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { loadAsset } from '../../../server/platform/http/browser/pages.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';

it('a style sheet is served without its comments, and a script as it is', () => {
  const folder = temporaryFolder('assets');
  writeFileSync(`${folder}/one.css`, '/* Why:\n two lines. */\na { b: c; }\n\n/* More. */\nd { e: f; }\n');
  writeFileSync(`${folder}/two.css`, 'g { h: i; } /* end */\n');
  const style = loadAsset(folder, 'all.css', 'text/css; charset=utf-8', ['one.css', 'two.css']);
  expect(style.content.toString()).toBe('a { b: c; }\n\nd { e: f; }\ng { h: i; } ');
  writeFileSync(`${folder}/go.js`, '/* Why. */ go();\n');
  expect(loadAsset(folder, 'go.js', 'text/javascript').content.toString()).toBe('/* Why. */ go();\n');
});
