import { describe, it } from 'vitest';
import { expectGenerated } from '../contract/generated.ts';
import { renderPhp } from './php-types.ts';
import { renderPython } from './python-types.ts';
import { renderTypeScript } from './typescript-types.ts';

describe('the generated types of the client library', () => {
  it('match the contract in TypeScript', () =>
    expectGenerated('sdk/typescript/src/contract.ts', renderTypeScript()));

  it('match the contract in Python', () =>
    expectGenerated('sdk/python/svc_gateway/contract.py', renderPython()));

  it('match the contract in PHP', () => expectGenerated('sdk/php/src/Contract.php', renderPhp()));
});
