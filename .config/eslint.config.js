import tseslint from 'typescript-eslint';

/** Names that said nothing to a newcomer. CONTRIBUTING.md has the terms to use instead. */
const riddles = ['world', 'crowd', 'visit', 'judge', 'carryOut', 'keepLatecomers', 'patience'];

/** A title that begins with one of these is no sentence: it has neither a subject nor a verb in front. */
const openings =
  'for|of|that|when|whose|without|with|in|what|as|so|after|where|from|by|to|who|on|before|at|also|while|not|no|nor|and|or|but|than|until|between|beside|behind|under|over|per|if|else|because|it|its|they|their|we|both|which|how|into|against|during|within|across|through|this|these|those|only|even|then';

/** `it('…')`, `it.skipIf(x)('…')`, `it.each(rows)('…')`, `it.skipIf(x).each(rows)('…')`: the paths to the first name of the call. */
const calls = ['callee', 'callee.object', 'callee.callee.object', 'callee.callee.object.callee.object'];

/** The title as a text, or as the beginning of a template. */
const titles = ['arguments.0.value', 'arguments.0.quasis.0.value.raw'];

const unclearTitles = calls.flatMap((call) =>
  titles.map((title) => ({
    selector: `CallExpression[${call}.name=/^(it|test)$/][${title}=/^(${openings})\\b/i]`,
    message:
      "Write the title as a sentence. Where the describe is the subject, begin with a verb ('accepts a token …'); else with a noun.",
  })),
);

/** Code that the wiring may not have: it only makes the parts of the service and connects them. */
const logic =
  'IfStatement, ForStatement, ForInStatement, ForOfStatement, WhileStatement, SwitchStatement, TryStatement, ThrowStatement';

export default tseslint.config(
{
  files: ['**/*.ts'],
  languageOptions: {
    parser: tseslint.parser,
    parserOptions: { project: ['./tsconfig.json'] },
  },
  linterOptions: { reportUnusedDisableDirectives: 'error' },
  plugins: { '@typescript-eslint': tseslint.plugin },
  rules: {
    'id-denylist': ['error', ...riddles],
    'no-restricted-syntax': ['error', ...unclearTitles],
    '@typescript-eslint/no-floating-promises': 'error',
    '@typescript-eslint/no-misused-promises': 'error',
    '@typescript-eslint/await-thenable': 'error',
    '@typescript-eslint/switch-exhaustiveness-check': 'error',
    '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
  },
},
{
  files: ['server/process/wiring/**/*.ts'],
  ignores: ['server/process/wiring/upward-calls.ts'],
  rules: {
    // A name that is used before its definition is a room that knows a room above it.
    '@typescript-eslint/no-use-before-define': ['error', { functions: false, typedefs: false }],
    'no-restricted-syntax': ['error', { selector: logic, message: 'The wiring only makes parts. Put this into a room.' }],
  },
},
);
