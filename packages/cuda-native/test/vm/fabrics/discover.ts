// A minimal NVMe/TCP host that encodes only with nvme-spec. It reads the Discovery log of the Linux target.
import { once } from 'node:events'
import { connect } from 'node:net'
import {
  CC,
  GetLogPage,
  LID,
  logPagePart,
  SGL1_OFFSET,
  SGL_SUB_TYPE,
  SGL_TYPE,
  SglDataBlock,
  SQE,
  TransportSglDataBlock,
  zeroBased,
} from '@gpunvme/nvme-spec'
import {
  CapsuleCmd,
  CapsuleResp,
  CNTLID_DYNAMIC,
  Connect,
  ConnectData,
  DISCOVERY_NQN,
  IcReq,
  PropertySet,
  TCP_SGL_SUB_TYPE,
  tcpPduParts,
} from '@gpunvme/nvme-spec/fabrics'

/** PSDT 1: the Linux target rejects PSDT 2 of Base 2.2 Figure 95 with Invalid Field in Command. */
const { SGL: PSDT } = SQE.PSDT
const ENTRY = CapsuleCmd.CCSQE.offset
/** Length of the log header and two entries. */
const LOG_BYTES = 3072

/** Connects to the Discovery controller at a port of this guest, and reads its log. */
export async function askForDiscoveryLog(port: number, hostNqn: string): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const onClose = () => socket.emit('error', new Error('the target closed the connection'))
  socket.on('close', onClose)
  let received = Buffer.alloc(0)
  socket.on('data', (data: Buffer) => (received = Buffer.concat([received, data])))

  /** Sends a PDU and waits for its response: an ICResp or a response capsule. */
  let answers = 0
  const ask = async (pdu: DataView): Promise<void> => {
    socket.write(new Uint8Array(pdu.buffer))
    answers++
    while (answersIn(received) < answers) await once(socket, 'data')
  }

  await ask(IcReq.create({}).data)

  const connectPdu = capsule(ConnectData.bytes)
  Connect.encode(connectPdu, ENTRY, { CID: 1, SQSIZE: zeroBased(32), PSDT })
  SglDataBlock.encode(connectPdu, ENTRY + SGL1_OFFSET, {
    LEN: ConnectData.bytes,
    SGLID: { SGLDT: SGL_TYPE.DATA_BLOCK, SGLDST: SGL_SUB_TYPE.OFFSET },
  })
  const hostId = Uint8Array.from({ length: 16 }, (_, index) => index)
  ConnectData.encode(connectPdu, CapsuleCmd.bytes, {
    ...{ HOSTID: hostId, CNTLID: CNTLID_DYNAMIC, SUBNQN: DISCOVERY_NQN, HOSTNQN: hostNqn },
  })
  await ask(connectPdu)

  const enable = capsule()
  const cc = CC.encode({ EN: 1, IOSQES: 6, IOCQES: 4 })
  PropertySet.encode(enable, ENTRY, { CID: 2, PSDT, OFST: CC.offset, VALUE: BigInt(cc) })
  await ask(enable)

  const getLog = capsule()
  const part = logPagePart(LOG_BYTES / 4)
  GetLogPage.encode(getLog, ENTRY, { CID: 3, PSDT, LID: LID.DISCOVERY, ...part })
  TransportSglDataBlock.encode(getLog, ENTRY + SGL1_OFFSET, {
    LEN: LOG_BYTES,
    SGLID: { SGLDT: SGL_TYPE.TRANSPORT_DATA_BLOCK, SGLDST: TCP_SGL_SUB_TYPE.COMMAND_DATA_BUFFER },
  })
  await ask(getLog)
  socket.off('close', onClose)
  socket.destroy()
}

/** A command capsule with room for in-capsule data. */
function capsule(dataBytes = 0): DataView {
  const lengthBytes = CapsuleCmd.bytes + dataBytes
  const data = new DataView(new ArrayBuffer(lengthBytes))
  CapsuleCmd.encode(data, 0, { PDO: dataBytes === 0 ? 0 : CapsuleCmd.bytes, PLEN: lengthBytes })
  return data
}

/** Returns the number of complete ICResp and CapsuleResp PDUs received. */
function answersIn(received: Buffer): number {
  const data = new DataView(received.buffer, received.byteOffset, received.length)
  let count = 0
  for (let at = 0; at + 8 <= received.length;) {
    const { header, lengthBytes } = tcpPduParts(data, at)
    at += lengthBytes
    if (at <= received.length && (header.name === CapsuleResp.name || header.name === 'ICResp')) count++
  }
  return count
}
