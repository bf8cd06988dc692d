import { randomUUID } from 'node:crypto'
import { builtinModules } from 'node:module'
import type { BuildOptions } from 'esbuild'

/**
 * An `import` of a module of Node's looks at all that it exports, and so loads what stands behind it: of `node:http`
 * the WebSocket with the whole of undici, for the AWS SDK, which wants no more than requests. In a bundle
 * `process.getBuiltinModule` takes its place, which loads what is asked for.
 */
export interface BuiltinCalls {
  /** For the build: modules of Node's stay outside, under names that no code can have in it by chance. */
  readonly options: Required<Pick<BuildOptions, 'alias' | 'external'>>
  /** The text of a file of that build, in which the names are gone. */
  readonly writeInto: (text: string) => string
}

export function callBuiltins(): BuiltinCalls {
  const mark = `builtin-${randomUUID()}-`
  const statement = new RegExp(`import([^;"]*?)from"${mark}([^"]+)";`, 'g')
  const name = new RegExp(`"${mark}([^"]+)"`, 'g')
  return {
    options: {
      alias: Object.fromEntries(namesOfModules.map((module) => [`node:${module}`, `${mark}${module}`])),
      external: [`${mark}*`],
    },
    writeInto: (text) => {
      const calls: string[] = []
      const rest = text.replace(statement, (_, clause: string, module: string) => {
        calls.push(...declare(clause, `globalThis.process.getBuiltinModule("node:${module}")`))
        return ''
      })
      return calls.join('') + rest.replace(name, '"node:$1"')
    },
  }
}

const namesOfModules = builtinModules.map((module) => module.replace(/^node:/, ''))

/** What an `import` declares, as esbuild writes it: `a`, `{b,c as d}`, `*as e`, or the first with one of the others. */
function declare(clause: string, module: string): readonly string[] {
  const parts = /^\s*([\w$]+)?\s*,?\s*(?:\{(.*)\}|\*\s*as\s*([\w$]+))?\s*$/s.exec(clause)
  if (parts === null) throw new Error(`esbuild wrote an import that is not understood: ${clause}`)
  const [, whole, names = '', space] = parts
  const named = names.split(',').filter((one) => one !== '')
  const [defaults, others] = [named.filter(isDefault), named.filter((one) => !isDefault(one))]
  const wholes = [whole, space, ...defaults.map((one) => one.split(asWord)[1])].filter((one) => one !== undefined)
  const fields = others.map((one) => one.split(asWord).join(':')).join(',')
  return [...wholes, ...(fields === '' ? [] : [`{${fields}}`])].map((one) => `var ${one}=${module};`)
}

const asWord = /\s+as\s+/

/** The default export of a module of Node's is the module. */
function isDefault(name: string): boolean {
  return /^default\s/.test(name)
}
