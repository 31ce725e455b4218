import js from '@eslint/js'
import tseslint from 'typescript-eslint'
import { noUnboundedSpread } from './scripts/lint/no-unbounded-spread.mjs'

export default tseslint.config(
  { ignores: ['**/dist/**', '**/.reports/**', '**/bin/**'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // A template of numbers is what register dumps and error messages are made of.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // Index checks on typed arrays are made once, before a loop; `!` states that.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      // A declaration without rows is an ordinary thing here.
      '@typescript-eslint/no-generated-empty-object-type': 'off',
      'no-console': 'error',
    },
  },
  {
    // Not in tests, and not in cases and campaigns beside src/, which make their data themselves.
    files: ['**/src/**/*.ts'],
    ignores: ['**/*.test.ts'],
    plugins: { gpunvme: { rules: { 'no-unbounded-spread': noUnboundedSpread } } },
    rules: { 'gpunvme/no-unbounded-spread': 'error' },
  },
  {
    // Scripts run by node as they are: no types to check, and the terminal is their output.
    files: ['**/*.mjs', '**/*.js'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      parserOptions: { projectService: false, program: null },
      globals: Object.fromEntries(
        ['console', 'process', 'performance', 'URL', 'Buffer', 'setImmediate'].map((name) => [name, 'readonly']),
      ),
    },
    rules: { ...tseslint.configs.disableTypeChecked.rules, 'no-console': 'off' },
  },
)
