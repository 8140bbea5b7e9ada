import { describe, it } from 'vitest';
import { expectGenerated } from '../contract/generated.ts';
import { renderPhp } from './php-types.ts';
import { renderPython } from './python-types.ts';
import { renderTypeScript } from './typescript-types.ts';

describe('the types of the client libraries', () => {
  it('of TypeScript are those of the contract', () =>
    expectGenerated('sdk/typescript/src/contract.ts', renderTypeScript()));

  it('of Python are those of the contract', () =>
    expectGenerated('sdk/python/svc_gateway/contract.py', renderPython()));

  it('of PHP are those of the contract', () => expectGenerated('sdk/php/src/Contract.php', renderPhp()));
});
