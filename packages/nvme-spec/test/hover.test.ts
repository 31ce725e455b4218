import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const folder = join(import.meta.dirname, '..')
/** Inside the package, where its name resolves; there is no such file. */
const file = join(folder, 'editor.ts')
const mdts =
  'Maximum Data Transfer Size: 2 ^ n pages of CAP.MPSMIN; 0 means no limit. Identify Controller, byte 77. Base 2.1 §5.1.13.2.1.'
const slba = 'Starting LBA. Read, Dwords 11:10. NVM 1.2 §3.3.4.'

/** Expressions, with the documentation of their last name. */
const cases = [
  ['CC.EN', 'Enable. CC (rw), bit 0. Base 2.1 §3.1.4.5.'],
  ['CC.decode(1).EN', 'Enable. CC (rw), bit 0. Base 2.1 §3.1.4.5.'],
  ['IdentifyController.MDTS', mdts],
  ['id.MDTS', mdts],
  ['view.MDTS', mdts],
  ['id.OACS.FNVMS', 'Format NVM Supported. Identify Controller.OACS, bit 1. Base 2.1 §5.1.13.2.1.'],
  ['Read.SLBA', slba],
  ['read.SLBA', slba],
  ['read.CID', 'Command Identifier. SQE, Dword 0 bits 31:16. Base 2.1 §4.1.1.'],
  ['read.NLB', "Number of Logical Blocks; 0's based. Read, Dword 12 bits 15:0. NVM 1.2 §3.3.4."],
  [
    'NumberOfQueues.CDW11.NSQR',
    "Number of I/O Submission Queues Requested; 0's based. Number of Queues, CDW11, bits 15:0. libnvme 1.3 NVME_FEAT_NRQS_NSQR_SHIFT.",
  ],
] as const

const text = [
  `import { CC, IdentifyController, NumberOfQueues, Read } from '@gpunvme/nvme-spec'`,
  'declare const data: DataView',
  'const id = IdentifyController.decode(data)',
  'const view = IdentifyController.view(data)',
  'const read = Read.view(data)',
  ...cases.map(([expression]) => `${expression};`),
].join('\n')

const service = ts.createLanguageService({
  getCompilationSettings: () => ({
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    types: [],
  }),
  getScriptFileNames: () => [file],
  getScriptVersion: () => '1',
  getScriptSnapshot: (path) => {
    const content = path === file ? text : ts.sys.readFile(path)
    return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
  },
  getCurrentDirectory: () => folder,
  getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
  fileExists: (path) => ts.sys.fileExists(path),
  readFile: (path) => ts.sys.readFile(path),
  directoryExists: (path) => ts.sys.directoryExists(path),
  realpath: (path) => ts.sys.realpath?.(path) ?? path,
})

test('the program of this test compiles against the built package', () => {
  expect(service.getSemanticDiagnostics(file).map(({ messageText }) => messageText)).toEqual([])
})

describe('an editor shows documentation, position and source of', () => {
  test.each(cases)('%s', (expression, documentation) => {
    const at = text.indexOf(`\n${expression};`) + 1 + expression.lastIndexOf('.') + 1
    const shown = service.getQuickInfoAtPosition(file, at)
    expect(ts.displayPartsToString(shown?.documentation)).toBe(documentation)
  })
})
