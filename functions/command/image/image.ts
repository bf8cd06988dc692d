import { existsSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { OperatingError } from '../../../shared/index.ts'
import { findEntry } from '../entry.ts'
import { writeImage } from './write-image.ts'

/** `setpoint image FILE`: this repository as a container image. */
export function runImage(args: readonly string[]): void {
  const options = {
    app: { type: 'string', default: '.' },
    name: { type: 'string', default: 'setpoint:latest' },
  } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  const [out, ...more] = positionals
  if (out === undefined || more.length > 0) throw new OperatingError('BAD_REQUEST', 'type setpoint image FILE')
  if (process.platform !== 'linux')
    throw new OperatingError('BAD_REQUEST', 'an image holds the Node of this machine: write it on Linux')
  if (existsSync(out)) throw new OperatingError('BAD_REQUEST', `${out} is there already: name a file that is not`)
  const app = resolve(values.app)
  findEntry(app)
  if (!existsSync(join(app, 'node_modules', 'setpoint')))
    throw new OperatingError('BAD_REQUEST', `${values.app} has no node_modules/setpoint: type npm ci --omit=dev`)
  const digest = write({ app, out, name: values.name, program: process.execPath })
  process.stdout.write(`${out} is ${values.name}, ${digest}
  podman load -i ${out}    # or: docker load, skopeo copy oci-archive:${out} docker://…
`)
}

function write(image: Parameters<typeof writeImage>[0]): string {
  try {
    return writeImage(image)
  } catch (cause) {
    const { code, syscall, message } = cause as NodeJS.ErrnoException
    if (syscall === undefined) throw cause
    // Half an archive would be in the way of the next one.
    if (code !== 'EEXIST') rmSync(image.out, { force: true })
    throw new OperatingError('UNAVAILABLE', `cannot write ${image.out}: ${message}`, { cause })
  }
}
