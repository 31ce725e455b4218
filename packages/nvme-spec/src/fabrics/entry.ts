import { dwordBits, openBits } from '../layout/rows.js'

/** Opcode of every Fabrics command, on queues of any command set (Base 2.2 §4.1.2, Figure 94). */
export const FABRICS_OPCODE = 0x7f

/** PSDT of Fabrics commands, whose data an SGL describes. Open: Figure 95 defines 0 and 2, and Linux uses 1. */
export const fabricsPsdt = dwordBits(0, openBits(15, 14, 'PRP or SGL for Data Transfer', { NO_DATA: 0, DATA: 2 }))
