import { describe, expect, it } from 'vitest'
import { describeRows } from '../../test/rows.js'
import {
  Abort,
  AbortDw0,
  AEI_ERROR,
  AEI_IMMEDIATE,
  AEI_IO_COMMAND,
  AEI_NOTICE,
  AEI_ONE_SHOT,
  AEI_SMART,
  AET,
  AsyncEventDw0,
  AsyncEventDw1,
  AsyncEventRequest,
  eventInformation,
  formatAsyncEvent,
} from './events.js'

describe('Abort (Base 2.1 §5.1.1)', () => {
  it('is opcode 08h', () => {
    expect(Abort).toMatchObject({ opcode: 0x08, set: 'admin', transfer: 'none' })
  })

  describeRows([[AbortDw0, { IANP: 0x1n }]]) // Figure 144
})

describe('Asynchronous Event Request (Base 2.1 §5.1.2)', () => {
  it('is opcode 0Ch', () => {
    expect(AsyncEventRequest).toMatchObject({ opcode: 0x0c, set: 'admin', transfer: 'none' })
  })

  describeRows([
    [AsyncEventDw0, { AET: 0x07n, AEI: 0xff00n, LID: 0xff_0000n }], // Figure 147
    [AsyncEventDw1, { CDQID: 0xffffn }], // Figure 155
  ])

  it('types are 000b to 100b, 110b and 111b', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7].map((type) => AET.nameOf(type))).toEqual([
      ...['ERROR_STATUS', 'SMART_HEALTH_STATUS', 'NOTICE', 'IMMEDIATE', 'ONE_SHOT', '0x5'],
      ...['IO_COMMAND_SPECIFIC', 'VENDOR'],
    ])
  })

  it.each([
    [0, AEI_ERROR, 0x00, 'INVALID_DOORBELL_REGISTER'], // libnvme 1.3, nvme_ae_info_error
    [0, AEI_ERROR, 0x01, 'INVALID_DOORBELL_VALUE'],
    [0, AEI_ERROR, 0x02, 'DIAGNOSTIC_FAILURE'],
    [0, AEI_ERROR, 0x03, 'PERSISTENT_INTERNAL_ERROR'],
    [0, AEI_ERROR, 0x04, 'TRANSIENT_INTERNAL_ERROR'],
    [0, AEI_ERROR, 0x05, 'FIRMWARE_IMAGE_LOAD_ERROR'],
    [1, AEI_SMART, 0x00, 'SUBSYSTEM_RELIABILITY'], // libnvme 1.3, nvme_ae_info_smart
    [1, AEI_SMART, 0x01, 'TEMPERATURE_THRESHOLD'],
    [1, AEI_SMART, 0x02, 'SPARE_BELOW_THRESHOLD'],
    [2, AEI_NOTICE, 0x00, 'ATTACHED_NAMESPACE_ATTRIBUTE_CHANGED'], // Figure 151
    [2, AEI_NOTICE, 0x01, 'FIRMWARE_ACTIVATION_STARTING'],
    [2, AEI_NOTICE, 0x02, 'TELEMETRY_LOG_CHANGED'],
    [2, AEI_NOTICE, 0x03, 'ASYMMETRIC_NAMESPACE_ACCESS_CHANGE'],
    [2, AEI_NOTICE, 0x04, 'PREDICTABLE_LATENCY_EVENT_AGGREGATE_LOG_CHANGE'],
    [2, AEI_NOTICE, 0x05, 'LBA_STATUS_INFORMATION_ALERT'],
    [2, AEI_NOTICE, 0x06, 'ENDURANCE_GROUP_EVENT_AGGREGATE_LOG_PAGE_CHANGE'],
    [2, AEI_NOTICE, 0x07, 'REACHABILITY_GROUP_CHANGE'],
    [2, AEI_NOTICE, 0x08, 'REACHABILITY_ASSOCIATION_CHANGE'],
    [2, AEI_NOTICE, 0x09, 'ALLOCATED_NAMESPACE_ATTRIBUTE_CHANGED'],
    [2, AEI_NOTICE, 0x0a, '0xa'],
    [2, AEI_NOTICE, 0xef, 'ZONE_DESCRIPTOR_CHANGED'],
    [2, AEI_NOTICE, 0xf0, 'DISCOVERY_LOG_PAGE_CHANGE'],
    [2, AEI_NOTICE, 0xf1, 'HOST_DISCOVERY_LOG_PAGE_CHANGE'],
    [2, AEI_NOTICE, 0xf2, 'AVE_DISCOVERY_LOG_PAGE_CHANGE'],
    [2, AEI_NOTICE, 0xf3, 'PULL_MODEL_DDC_REQUEST'],
    [3, AEI_IMMEDIATE, 0x00, 'NVM_SUBSYSTEM_NORMAL_SHUTDOWN'], // Figure 153
    [3, AEI_IMMEDIATE, 0x01, 'TEMPERATURE_THRESHOLD_HYSTERESIS_RECOVERY'],
    [4, AEI_ONE_SHOT, 0x00, 'CONTROLLER_DATA_QUEUE_TAIL_POINTER'], // Figure 154
    [4, AEI_ONE_SHOT, 0x01, 'CONTROLLER_DATA_QUEUE_FULL_ERROR'],
    [6, AEI_IO_COMMAND, 0x00, 'RESERVATION_LOG_PAGE_AVAILABLE'], // Figure 152
    [6, AEI_IO_COMMAND, 0x01, 'SANITIZE_OPERATION_COMPLETED'],
    [6, AEI_IO_COMMAND, 0x02, 'SANITIZE_OPERATION_COMPLETED_WITH_UNEXPECTED_DEALLOCATION'],
    [6, AEI_IO_COMMAND, 0x03, 'SANITIZE_OPERATION_ENTERED_MEDIA_VERIFICATION_STATE'],
  ] as const)('type %ib', (type, table, value, name) => {
    expect(eventInformation(type)).toBe(table)
    expect(table.nameOf(value)).toBe(name)
  })

  it('Dword 0 is formatted as type, information and log page, unnamed values and reserved bits as numbers', () => {
    expect(formatAsyncEvent(0x0003_0102)).toBe('AET=NOTICE AEI=FIRMWARE_ACTIVATION_STARTING LID=0x03')
    expect(formatAsyncEvent(0x0002_0101)).toBe('AET=SMART_HEALTH_STATUS AEI=TEMPERATURE_THRESHOLD LID=0x02')
    expect(formatAsyncEvent(0x01c0_420f)).toBe('AET=VENDOR AEI=0x42 LID=0xc0 reserved=0x1000008')
  })
})
