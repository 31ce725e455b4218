import { expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { AsynchronousEventConfiguration } from './asynchronous-event-configuration.js'

it('Asynchronous Event Configuration: a bit for each kind of notice (Base 2.1 §5.1.25.1.5, Figure 391)', () => {
  expect(rowsOf(AsynchronousEventConfiguration.CDW11)).toEqual([
    ['SHCW', 7, 0],
    ['NAN', 8, 8],
    ['FAN', 9, 9],
    ['TLN', 10, 10],
    ['ANACN', 11, 11],
    ['PLEALCN', 12, 12],
    ['LSIAN', 13, 13],
    ['EGEALCN', 14, 14],
    ['NNSSHDN', 15, 15],
    ['TTHRY', 16, 16],
    ['RASSN', 17, 17],
    ['RGRP0', 18, 18],
    ['ANSAN', 19, 19],
    ['ZDCN', 27, 27],
    ['PMDRLPCN', 28, 28],
    ['ADLPCN', 29, 29],
    ['HDLPCN', 30, 30],
    ['DLPCN', 31, 31],
  ])
})
