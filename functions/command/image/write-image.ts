import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { appEntries, imageUser, runtimeEntries } from './entries.ts'
import { writeTarFile, type TarEntry } from './tar.ts'

export interface ImageOptions {
  /** A repository with its reconcilers and `node_modules`. */
  readonly app: string
  /** The archive, which is not there yet. */
  readonly out: string
  /** What the image is called. */
  readonly name: string
  /** Of Node. */
  readonly program: string
}

/**
 * Writes an OCI image layout as one archive: a layer with Node and its libraries, a layer with the app. Nothing in it
 * depends on the time or on the order of files on disk. Returns the digest of its manifest.
 */
export function writeImage({ app, out, name, program }: ImageOptions): string {
  const scratch = mkdtempSync(join(tmpdir(), 'setpoint-image-'))
  try {
    const layers = [
      writeLayer(join(scratch, 'runtime'), runtimeEntries(program)),
      writeLayer(join(scratch, 'app'), appEntries(app, 'app')),
    ]
    const config = blobOf('application/vnd.oci.image.config.v1+json', configOf(layers))
    const manifest = blobOf('application/vnd.oci.image.manifest.v1+json', {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: config.descriptor,
      layers: layers.map(({ descriptor }) => descriptor),
    })
    const index = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: [{ ...manifest.descriptor, annotations: { 'org.opencontainers.image.ref.name': name } }],
    }
    writeTarFile(out, layoutEntries([config, manifest, ...layers], index), () => {})
    return manifest.descriptor.digest
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

interface Blob {
  readonly descriptor: Descriptor
  readonly content: Uint8Array | { readonly file: string; readonly size: number }
}

/** Not compressed: what pushes it does that, and the bytes depend on no version of zlib. */
function writeLayer(file: string, entries: Iterable<TarEntry>): Blob {
  const hash = createHash('sha256')
  writeTarFile(file, entries, (bytes) => hash.update(bytes))
  const { size } = statSync(file)
  const digest = `sha256:${hash.digest('hex')}`
  return { descriptor: { mediaType: 'application/vnd.oci.image.layer.v1.tar', digest, size }, content: { file, size } }
}

function blobOf(mediaType: string, value: object): Blob {
  const content = Buffer.from(JSON.stringify(value))
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`
  return { descriptor: { mediaType, digest, size: content.length }, content }
}

const main = '/app/node_modules/setpoint/functions/command/main.js'

function configOf(layers: readonly Blob[]): object {
  const node = '/usr/local/bin/node'
  return {
    architecture: { x64: 'amd64' }[process.arch as string] ?? process.arch,
    os: 'linux',
    config: {
      User: `${imageUser}:${imageUser}`,
      Env: ['PATH=/usr/local/bin', 'NODE_ENV=production', 'SETPOINT_DATA_DIR=/data', 'HOME=/data'],
      // As npm start and the service have it: a list of everything adds 40 MB of memory at most, and not 130.
      Entrypoint: [node, '--max-semi-space-size=8', main],
      Cmd: ['start', '/app'],
      WorkingDir: '/app',
      Volumes: { '/data': {} },
      ExposedPorts: { '8443/tcp': {} },
      StopSignal: 'SIGTERM',
      // Of Docker; others ask /readyz.
      Healthcheck: { Test: ['CMD', node, main, 'health'], Interval: 30e9, Timeout: 5e9, StartPeriod: 30e9, Retries: 3 },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ descriptor }) => descriptor.digest) },
  }
}

function* layoutEntries(blobs: readonly Blob[], index: object): Iterable<TarEntry> {
  const file = (path: string, content: Blob['content']): TarEntry => ({ path, type: 'file', mode: 0o644, content })
  yield file('oci-layout', Buffer.from(JSON.stringify({ imageLayoutVersion: '1.0.0' })))
  yield file('index.json', Buffer.from(JSON.stringify(index)))
  for (const path of ['blobs', 'blobs/sha256']) yield { path, type: 'directory', mode: 0o755 }
  for (const { descriptor, content } of blobs)
    yield file(`blobs/sha256/${basename(descriptor.digest.slice(7))}`, content)
}
