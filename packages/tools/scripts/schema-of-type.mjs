import ts from 'typescript'

const { TypeFlags, SymbolFlags, ModifierFlags } = ts

/** Generates JSON Schemas from TypeScript types, for the JSON that `Output` prints for their values. */
export class Schemas {
  /** Types whose schema is being generated. */
  #open = []
  /** Names of the definitions of recursive types, by type. */
  #recursive = new Map()
  #definitions = {}
  #checker

  constructor(checker) {
    this.#checker = checker
  }

  /**
   * Returns the schema of a result.
   * @param [drive] schema of the facts that are added to the result's member `drive`
   */
  of(type, drive) {
    this.#definitions = {}
    const made = this.#whole(type)
    const schema = Object.keys(this.#definitions).length > 0 ? { ...made, $defs: this.#definitions } : made
    if (!drive) return schema
    const own = schema.properties?.drive
    const facts = own === undefined ? drive : join(drive, own)
    const { required = [] } = schema
    // If the result declares `drive` as optional, it stays optional: no drive may have been named.
    const isRequired = own === undefined || required.includes('drive')
    return {
      ...schema,
      properties: { ...schema.properties, drive: facts },
      required: [...required.filter((name) => name !== 'drive'), ...(isRequired ? ['drive'] : [])],
    }
  }

  /** Generates one schema for a result, even if its type is a union, as for an object with conditional members. */
  #whole(type) {
    const types = type.isUnion() ? type.types : [type]
    return types.map((each) => this.#schemaOf(each, 'the result')).reduce((a, b) => this.merge(a, b))
  }

  /** Returns the schema of results that fit one of two. */
  merge(a, b) {
    if (a.type !== 'object' || b.type !== 'object') return anyOf([a, b])
    const others = [a, b].flatMap(({ additionalProperties: each }) => (each === undefined ? [] : [each]))
    const either = (schemas) => schemas.reduce((one, other) => this.#either(one, other))
    const properties = {}
    for (const name of Object.keys({ ...a.properties, ...b.properties })) {
      const schemas = [a, b].flatMap((each) => each.properties?.[name] ?? each.additionalProperties ?? [])
      properties[name] = schemas.includes(true) ? {} : either(schemas)
    }
    const required = (a.required ?? []).filter((name) => b.required?.includes(name))
    const $defs = { ...a.$defs, ...b.$defs }
    return {
      type: 'object',
      properties,
      ...withRequired(required),
      ...(others.length > 0 && { additionalProperties: others.includes(true) ? true : either(others) }),
      ...(Object.keys($defs).length > 0 && { $defs }),
    }
  }

  #either(a, b) {
    if (JSON.stringify(a) === JSON.stringify(b)) return a
    return a.properties !== undefined && b.properties !== undefined ? this.merge(a, b) : anyOf([a, b])
  }

  #schemaOf(type, where) {
    const { flags } = type
    if (flags & (TypeFlags.Any | TypeFlags.Unknown)) return {}
    if (flags & TypeFlags.Null) return { type: 'null' }
    if (flags & TypeFlags.StringLiteral || flags & TypeFlags.NumberLiteral) return { const: type.value }
    if (flags & TypeFlags.BooleanLiteral) return { const: type.intrinsicName === 'true' }
    if (type.isUnion()) return this.#once(type, where, () => this.#union(type.types, where))
    if (flags & TypeFlags.StringLike) return { type: 'string' }
    if (flags & TypeFlags.NumberLike) return { type: 'number' }
    if (flags & TypeFlags.BooleanLike) return { type: 'boolean' }
    // A string of digits, since JSON numbers are exact only up to 2^53.
    if (flags & TypeFlags.BigIntLike) return { type: 'string', pattern: '^-?[0-9]+$' }
    if (flags & TypeFlags.NonPrimitive) return { type: 'object' }
    if (flags & TypeFlags.TypeParameter) return this.#schemaOf(this.#checker.getBaseConstraintOfType(type), where)
    return this.#once(type, where, () => this.#object(type, where))
  }

  /** Generates a schema with `make`, or returns a reference if the type is recursive. */
  #once(type, where, make) {
    if (this.#open.includes(type)) {
      const name = type.aliasSymbol?.name ?? type.symbol?.name
      if (name === undefined || name.startsWith('__')) throw new Error(`${where}: a recursive type has no name`)
      if (!this.#recursive.has(type)) this.#recursive.set(type, this.#unused(name))
      return { $ref: `#/$defs/${this.#recursive.get(type)}` }
    }
    this.#open.push(type)
    const schema = make()
    this.#open.pop()
    const name = this.#recursive.get(type)
    if (name === undefined) return schema
    this.#definitions[name] = schema
    return { $ref: `#/$defs/${name}` }
  }

  /** Returns an unused name for a definition: several files may declare types of the same name. */
  #unused(name) {
    const used = [...this.#recursive.values()]
    let free = name
    for (let count = 2; used.includes(free); count++) free = `${name}${count}`
    return free
  }

  #union(types, where) {
    const defined = types.filter(({ flags }) => !(flags & (TypeFlags.Undefined | TypeFlags.Void)))
    const schemas = []
    const constants = []
    for (const type of defined) {
      const schema = this.#schemaOf(type, where)
      if ('const' in schema) constants.push(schema.const)
      else schemas.push(schema)
    }
    if (constants.includes(true) && constants.includes(false)) {
      schemas.push({ type: 'boolean' })
      constants.splice(0, constants.length, ...constants.filter((value) => typeof value !== 'boolean'))
    }
    if (constants.length > 0)
      schemas.push(constants.length === 1 ? { const: constants[0] } : { enum: [...new Set(constants)] })
    return anyOf(schemas)
  }

  #object(type, where) {
    const checker = this.#checker
    const name = type.symbol?.name
    if (checker.isTupleType(type)) return this.#list(checker.getTypeArguments(type), where)
    if (checker.isArrayType(type)) return this.#list(checker.getTypeArguments(type), where)
    if (name === 'Map' || name === 'ReadonlyMap') {
      const [, value] = checker.getTypeArguments(type)
      return { type: 'object', additionalProperties: this.#schemaOf(value, where) }
    }
    if (type.getCallSignatures().length > 0 || /(?:Array|View|Buffer)$/.test(name ?? ''))
      throw new Error(`${where}: ${checker.typeToString(type)} is not JSON`)
    return this.#members(type, where)
  }

  #members(type, where) {
    const checker = this.#checker
    const properties = {}
    const required = []
    for (const symbol of checker.getPropertiesOfType(type)) {
      const [declaration] = symbol.declarations ?? []
      if (declaration && ts.getCombinedModifierFlags(declaration) & ModifierFlags.Private) continue
      const member = checker.getTypeOfSymbol(symbol)
      // JSON omits undefined members and functions.
      if (member.flags & (TypeFlags.Undefined | TypeFlags.Never) || member.getCallSignatures().length > 0) continue
      const schema = this.#schemaOf(member, `${where}.${symbol.name}`)
      const description = ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll(/\s*\n\s*/g, ' ')
      properties[symbol.name] = description === '' ? schema : { description, ...schema }
      const isAbsent = member.isUnion() && member.types.some(({ flags }) => flags & TypeFlags.Undefined)
      if (!(symbol.flags & SymbolFlags.Optional) && !isAbsent) required.push(symbol.name)
    }
    const index = checker.getIndexInfoOfType(type, ts.IndexKind?.String ?? 0) ?? type.getStringIndexType()
    const others = index && this.#schemaOf(index.type ?? index, `${where}.*`)
    return {
      type: 'object',
      ...(Object.keys(properties).length > 0 && { properties }),
      ...withRequired(required),
      ...(others && { additionalProperties: Object.keys(others).length > 0 ? others : true }),
    }
  }

  #list(types, where) {
    const schemas = types
      .filter(({ flags }) => !(flags & TypeFlags.Never))
      .map((type) => this.#schemaOf(type, `${where}[]`))
    return { type: 'array', ...(schemas.length > 0 && { items: anyOf(schemas) }) }
  }
}

function withRequired(required) {
  return required.length > 0 ? { required } : {}
}

/** Adds members to an object's schema. */
function join(a, b) {
  const required = [...new Set([...(a.required ?? []), ...(b.required ?? [])])]
  return { ...a, properties: { ...a.properties, ...b.properties }, ...withRequired(required) }
}

function anyOf(schemas) {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
  if (different.length === 1) return different[0]
  const plain = different.every((schema) => Object.keys(schema).length === 1 && typeof schema.type === 'string')
  return plain ? { type: different.map(({ type }) => type) } : { anyOf: different }
}
