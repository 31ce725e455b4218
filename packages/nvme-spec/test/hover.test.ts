import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const folder = join(import.meta.dirname, '..')
/** A virtual file inside the package, where its name resolves. */
const file = join(folder, 'editor.ts')
const mdts =
  'Maximum Data Transfer Size: 2 ^ n pages of CAP.MPSMIN; 0 means no limit. Identify Controller, byte 77. Base 2.1 §5.1.13.2.1.'
const itpt =
  'Idle Time Prior to Transition in milliseconds. Autonomous Power State Transition Entry, bytes 3:0 bits 31:8. Base 2.1 §5.1.25.1.6.'
const descriptor = 'Power State Descriptor'
const slba =
  'Starting LBA. Read, Dwords 11:10. NVM 1.2 §3.3.4. A cursor rounds values from 2^53; decoding returns them as bigints.'

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
  ['id.PSD[0]!.ENLAT', `Entry Latency in microseconds. ${descriptor}, bytes 7:4. Base 2.1 §5.1.13.2.1.`],
  ['view.PSD.at(1).MP', `Maximum Power in units of MXPS. ${descriptor}, bytes 1:0. Base 2.1 §5.1.13.2.1.`],
  ['SelfTestLog.decode(data).RDS[0]!.POH', 'Power On Hours. Self-test Result, bytes 11:4. Base 2.3 §5.2.12.1.7.'],
  [
    'PersistentEventLogHeader.decode(data).TSTMP[0]!.TSTMP',
    'Timestamp in milliseconds since 1970 or since a reset. Timestamp data, bytes 5:0. Base 2.1 §5.1.25.1.7.',
  ],
  ['transitions.APST.at(0).ITPT', itpt],
  ['AutonomousPowerStateTransition.data!.decode(data).APST[0]!.ITPT', itpt],
  ['CapsuleResp.decode(data).RCCQE[0]!.STATUS.SC', 'Status Code. CQE.STATUS, bits 8:1. Base 2.1 §4.2.1.'],
  [
    'R2t.decode(data).PLEN',
    'PDU Length in bytes, with digests, padding and data. PDU Common Header, bytes 7:4. TCP 1.0 §3.6.2.1.',
  ],
  ['Connect.decode(data).FCTYPE', 'Fabrics Command Type. Fabrics SQE, byte 4. Base 2.2 §4.1.2.'],
  [
    'DhChapReply.decode(data).T_ID',
    'Transaction Identifier, chosen by the host. Authentication message, bytes 5:4. Base 2.1 §8.3.4.5.3.',
  ],
] as const

const text = [
  `import { AutonomousPowerStateTransition, CC, IdentifyController, NumberOfQueues, PersistentEventLogHeader, Read, SelfTestLog } from '@gpunvme/nvme-spec'`,
  `import { DhChapReply, CapsuleResp, Connect, R2t } from '@gpunvme/nvme-spec/fabrics'`,
  'declare const data: DataView',
  'const id = IdentifyController.decode(data)',
  'const view = IdentifyController.view(data)',
  'const read = Read.view(data)',
  'const transitions = AutonomousPowerStateTransition.data!.view(data)',
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
