// Builds the command `gpunvme` and the packages that it imports, without type checks, which take most of a build's time.
// Every emitted file is one that `turbo run build` emits too, and each .tsbuildinfo records that the checks are pending:
// the next `tsc -b` without --noCheck runs them.
import { join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')
const describe = {
  getCurrentDirectory: () => root,
  getCanonicalFileName: (name) => name,
  getNewLine: () => '\n',
}
const host = ts.createSolutionBuilderHost(ts.sys, undefined, (diagnostic) =>
  process.stderr.write(`\n${ts.formatDiagnostic(diagnostic, describe)}`),
)
const command = join(root, 'packages/tools/tsconfig.build.json')
const builder = ts.createSolutionBuilder(host, [command], { noCheck: true })

for (let project; (project = builder.getNextInvalidatedProject());) {
  const startMs = performance.now()
  process.stderr.write(`building ${project.project.split('/').at(-2)} `)
  const status = project.done()
  process.stderr.write(`${((performance.now() - startMs) / 1000).toFixed(1)} s\n`)
  if (status !== ts.ExitStatus.Success) process.exitCode = 1
}
