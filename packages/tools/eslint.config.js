import root from '../../eslint.config.js'

const names = ['stdin', 'stdout', 'stderr', 'argv', 'env', 'cwd', 'exit']

export default [
  ...root,
  {
    files: ['src/**/*.ts'],
    // Except tests, and the watcher, which is a separate process.
    ignores: ['src/terminal/io.ts', 'src/**/*.test.ts', 'src/binding/watcher.ts', 'src/binding/watcher-process.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        ...names.map((property) => ({
          ...{ object: 'process', property },
          message: 'Use the Io of the session or output, so that verbs run in any process.',
        })),
      ],
    },
  },
]
