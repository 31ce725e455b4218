import { allCommands, allFeatures, declarationsIn } from '../src/all.js'
import * as fabrics from '../src/fabrics/index.js'
import * as spec from '../src/index.js'
import type { BitsMap, FieldMap } from '../src/layout/index.js'
import * as pci from '../src/pci/index.js'
import { registers } from '../src/registers.js'

/** Declarations of the main entry point and of `/pci`, by kind. */
export const declared = declarationsIn({ ...spec, ...pci })

const inFabrics = declarationsIn(fabrics)

/** A field of a structure or a command, or a row of a word, with its path, such as `CAP.MQES`. */
export interface Declared {
  readonly path: string
  readonly doc: string
  readonly zeroBased: boolean
}

interface Placed {
  readonly name: string
  readonly fields: FieldMap
}

/** Returns all declared fields and rows once. A DW0 with the rows of CDW11 is omitted. */
export function everyField(): Declared[] {
  const seen = new Set<Placed>()
  const found: Declared[] = []
  const addRows = (owner: string, rows: BitsMap) => {
    for (const [name, { doc, zeroBased = false }] of Object.entries(rows))
      found.push({ path: `${owner}.${name}`, doc, zeroBased })
  }
  const addFields = (placed: Placed) => {
    if (seen.has(placed)) return
    seen.add(placed)
    for (const [name, field] of Object.entries(placed.fields)) {
      found.push({ path: `${placed.name}.${name}`, doc: field.doc, zeroBased: field.zeroBased === true })
      addRows(`${placed.name}.${name}`, field.rows)
      if ('struct' in field) addFields(field.struct as Placed)
    }
  }
  for (const struct of [...declared.structs, ...inFabrics.structs]) addFields(struct)
  for (const command of allCommands) addFields(command)
  for (const feature of allFeatures) {
    if (feature.data !== undefined) addFields(feature.data)
    for (const dword of ['CDW11', 'CDW12', 'CDW13', 'CDW14', 'CDW15', 'DW0'] as const) {
      const fields = feature[dword]?.fields
      if (fields !== undefined && (dword !== 'DW0' || fields !== feature.CDW11?.fields))
        addRows(`${feature.name}.${dword}`, fields)
    }
  }
  for (const word of [...declared.words, ...inFabrics.words, ...registers]) addRows(word.name, word.fields)
  return found
}
