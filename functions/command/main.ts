#!/usr/bin/env node

/** `setpoint COMMAND …`, and `kubectl setpoint COMMAND …`. A mistake is one line on stderr, and exit code 1. */
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // Who reads no more, as `head`, has what it wants.
    if (code === 'EPIPE') return
    process.exitCode = 1
    if (stream === process.stdout) process.stderr.write(`setpoint: cannot write what was asked for: ${message}\n`)
  })
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 18)) {
  const { cacheCompiledCode } = await import('../../shared/runtime/local/compile-cache.ts')
  cacheCompiledCode()
  const { callCommand } = await import('./commands.ts')
  await callCommand(process.argv.slice(2))
} else {
  process.stderr.write(`setpoint: Node 22.18 or newer is needed, and this is ${process.version}\n`)
  process.exitCode = 1
}
