import { describe, it } from 'vitest';
import { expectGenerated } from '../contract/generated.ts';
import { renderPhp } from './php-types.ts';
import { renderPython } from './python-types.ts';
import { renderTypeScript } from './typescript-types.ts';

describe('the generated types of the client library', () => {
  it('for TypeScript match the contract', () =>
    expectGenerated('sdk/typescript/src/contract.ts', renderTypeScript()));

  it('for Python match the contract', () =>
    expectGenerated('sdk/python/svc_gateway/contract.py', renderPython()));

  it('for PHP match the contract', () => expectGenerated('sdk/php/src/Contract.php', renderPhp()));
});
