import root from '../../eslint.config.js'

const names = ['stdin', 'stdout', 'stderr', 'argv', 'env', 'cwd', 'exit']

export default [
  ...root,
  {
    files: ['src/**/*.ts'],
    // Tests, and the watcher, which is a process of its own.
    ignores: ['src/terminal/io.ts', 'src/**/*.test.ts', 'src/binding/watcher.ts', 'src/binding/watcher-process.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        ...names.map((property) => ({
          ...{ object: 'process', property },
          message: 'A verb takes it from the Io of its session or output, so that it runs in any process.',
        })),
      ],
    },
  },
]
