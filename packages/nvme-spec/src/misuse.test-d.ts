/* oxlint-disable typescript/no-unsafe-call, typescript/no-unsafe-member-access, typescript/no-unsafe-assignment --
   code that does not compile has no type */
// Code that must not compile. `tsc -p tsconfig.json` checks that each line below an expectation is an error.
import {
  AQA,
  CAP,
  CC,
  countOf,
  CreateIoCq,
  CreateIoSq,
  CSTS,
  decodeFields,
  IdentifyController,
  NumberOfQueues,
  Read,
  SQE,
  zeroBased,
  type Memory,
  type ZeroBased,
} from './index.js'
import { bit, bits, cdw, nvmCommand, register32, struct, u8, type SpecRef } from './layout/index.js'

const data = new DataView(new ArrayBuffer(4096))
const read = Read.view(data)

// Ordinary uses compile.
CC.encode({ EN: 1, CSS: CC.CSS.NVM, IOSQES: 6 }, 0x0046_0000)
read.at(3).begin(7).NLB = zeroBased(256)
read.SLBA = 2 ** 40
Read.encode(data, 0, { CID: 1, NSID: 1, NLB: zeroBased(8) })
CreateIoSq.encode(data, 0, { QPRIO: CreateIoSq.QPRIO.LOW, PC: 1 })
CSTS.RDY.of(1) satisfies number
CAP.MQES.of(0n) satisfies ZeroBased
decodeFields(Read, data as Memory).NLB satisfies ZeroBased
decodeFields(Read, data).SLBA satisfies number | bigint

// A decoded command has its fields and no others.
// @ts-expect-error -- LBA is not a field of Read
decodeFields(Read, data).LBA satisfies number

// A register has the fields of its figure and no others.
// @ts-expect-error -- ENABLE is not a field of CC
CC.encode({ ENABLE: 1 })
// @ts-expect-error -- READY is not a field of CSTS
CSTS.READY.of(1)

// A field with named values accepts no other values, and a bit is 0 or 1.
// @ts-expect-error -- 3 is reserved in CC.CSS
CC.encode({ CSS: 3 })
// @ts-expect-error -- a bit is not 2
CC.encode({ EN: 2 })
// @ts-expect-error -- a bit is not a boolean
CC.encode({ EN: true })
// @ts-expect-error -- CC.SHN has no FAST
CC.encode({ SHN: CC.SHN.FAST })
// @ts-expect-error -- QPRIO has the values 0 to 3
CreateIoSq.encode(data, 0, { QPRIO: 4 })

// A 0's based field does not accept a plain count, nor countOf a plain number.
// @ts-expect-error -- 256 blocks or 257?
read.NLB = 256
// @ts-expect-error -- 31 entries or 32?
AQA.encode({ ASQS: 31 })
// @ts-expect-error -- 1024 entries or 1025?
CreateIoCq.encode(data, 0, { QSIZE: 1024 })
// @ts-expect-error -- four queues or five?
NumberOfQueues.CDW11.encode({ NSQR: 4 })
// @ts-expect-error -- only a 0's based value has a count
countOf(5)

// 32-bit words and hot 64-bit fields are numbers, cold 64-bit words are bigints; they are not interchangeable.
// @ts-expect-error -- SLBA is a number below 2^53
read.SLBA = 5n
// @ts-expect-error -- PRP1 is a number below 2^53
Read.encode(data, 0, { PRP1: 0x1000n })
// @ts-expect-error -- CC is 32 bits wide, so its word is a number
CC.format(0x0046_0001n)
// @ts-expect-error -- CAP is 64 bits wide, so its word is a bigint
CAP.decode(0)

// A command has the fields of its figure, and a fixed opcode.
// @ts-expect-error -- Read has no LBA, it has SLBA
read.LBA = 0
// @ts-expect-error -- DTYPE is a field of Write
Read.encode(data, 0, { DTYPE: 1 })
// @ts-expect-error -- the opcode of Read is fixed
Read.encode(data, 0, { OPC: 1 })
// @ts-expect-error -- only commands have begin()
SQE.view(data).begin(1)
// @ts-expect-error -- SQE has no LBA
SQE.create({ LBA: 1 })

// A declaration cites a section of a known revision.
// @ts-expect-error -- no revision
export const noRevision: SpecRef = 'Base §3.1.4.5'
// @ts-expect-error -- a revision that the declarations were not checked against
export const otherRevision: SpecRef = 'Base 1.4 §3.1.5'
// @ts-expect-error -- no section
export const noSection: SpecRef = 'Base 2.1'
// @ts-expect-error -- a register without a reference
register32('R', { offset: 0, access: 'rw', doc: 'd' }, { A: bit(0, 'a') })
// @ts-expect-error -- a structure whose reference has no revision
struct('S', { bytes: 1, doc: 'd', spec: '§3.1' }, { A: u8(0, 'a') })
// @ts-expect-error -- not an access type of the specification's figures
register32('R', { offset: 0, access: 'wo', doc: 'd', spec: 'gpunvme test' }, { A: bits(7, 0, 'a') })
// @ts-expect-error -- a command without an opcode
nvmCommand('C', { doc: 'd', spec: 'gpunvme test' }, { A: cdw(10, 7, 0, 'a') })

// Decoded values can be encoded.
CC.encode(CC.decode(5))
CAP.encode(CAP.decode(5n))
IdentifyController.create(IdentifyController.decode(data))
IdentifyController.encode(data, 0, IdentifyController.decode(data), { allowReserved: true })
