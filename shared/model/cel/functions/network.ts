import type { Functions, Run } from '../overload.ts'
import { CelFailure, Opaque, type Result, type Value } from '../value.ts'

/** An address of the internet, of either family. */
class Address extends Opaque {
  readonly type = 'net.IP'
  readonly bits: bigint
  readonly family: 4 | 6

  constructor(bits: bigint, family: 4 | 6) {
    super()
    this.bits = bits
    this.family = family
  }

  equals(other: Opaque): boolean {
    return other instanceof Address && other.family === this.family && other.bits === this.bits
  }
}

/** An address with the length of its network. */
class Network extends Opaque {
  readonly type = 'net.CIDR'
  readonly address: Address
  readonly length: number

  constructor(address: Address, length: number) {
    super()
    this.address = address
    this.length = length
  }

  equals(other: Opaque): boolean {
    return other instanceof Network && other.length === this.length && other.address.equals(this.address)
  }
}

/** Longer texts are none, whatever they hold. */
const addressLengthMax = 64
const networkLengthMax = addressLengthMax + '/128'.length

/** Undefined for a text that is none; addresses with a zone are none to Kubernetes. */
function readAddress(text: string): Address | undefined {
  return text.length > addressLengthMax ? undefined : text.includes(':') ? readV6(text) : readV4(text)
}

function readV4(text: string): Address | undefined {
  const parts = text.split('.')
  const isRight = parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
  return isRight
    ? new Address(
        parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n),
        4,
      )
    : undefined
}

/** IPv4 within IPv6 is none, however it is written; the last two groups may be written as IPv4 for all that. */
function readV6(text: string): Address | undefined {
  const dotted = text.slice(text.lastIndexOf(':') + 1)
  const v4 = dotted.includes('.') ? readV4(dotted)?.bits : undefined
  if (dotted.includes('.') && v4 === undefined) return undefined
  const groups = v4 === undefined ? text : `${text.slice(0, -dotted.length)}${hex(v4 >> 16n)}:${hex(v4 & 0xffffn)}`
  const address = readGroups(groups)
  return address === undefined || address.bits >> 32n === 0xffffn ? undefined : address
}

function hex(group: bigint): string {
  return group.toString(16)
}

function readGroups(text: string): Address | undefined {
  const [head = '', tail, more] = text.split('::')
  if (more !== undefined) return undefined
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = 8 - before.length - after.length
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...before, ...Array.from({ length: missing }, () => '0'), ...after]
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined
  return new Address(
    groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n),
    6,
  )
}

function showAddress({ bits, family }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => Number((bits >> BigInt(112 - 16 * i)) & 0xffffn))
  const { start, length } = longestZeros(groups)
  const show = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':')
  if (length < 2) return show(groups)
  return `${show(groups.slice(0, start))}::${show(groups.slice(start + length))}`
}

function longestZeros(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 }
  let length = 0
  for (const [i, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0
    if (length > best.length) best = { start: i - length + 1, length }
  }
  return best
}

function readNetwork(text: string): Network | undefined {
  if (text.length > networkLengthMax) return undefined
  const [address = '', length = '', more] = text.split('/')
  const read = readAddress(address)
  if (read === undefined || more !== undefined || !/^(?:0|[1-9]\d{0,2})$/.test(length)) return undefined
  return Number(length) > widthOf(read) ? undefined : new Network(read, Number(length))
}

function widthOf({ family }: Address): number {
  return family === 4 ? 32 : 128
}

/** The part of an address that names its network. */
function prefixOf(address: Address, length: number): bigint {
  return address.bits >> BigInt(widthOf(address) - length)
}

function holds({ address, length }: Network, other: Address): boolean {
  return address.family === other.family && prefixOf(address, length) === prefixOf(other, length)
}

/** Most processes ask for no address: the network is read when one is. */
function isIn(network: string): (value: Value | undefined) => boolean {
  let range: Network | undefined
  return (value) => {
    range ??= readNetwork(network) as Network
    return holds(range, value as Address)
  }
}

function either(v4: string, v6: string): (value: Value | undefined) => boolean {
  const [four, six] = [isIn(v4), isIn(v6)]
  return (value) => four(value) || six(value)
}

const isLoopback = either('127.0.0.0/8', '::1/128')
const isUnspecified = either('0.0.0.0/32', '::/128')
const isLinkLocal = either('169.254.0.0/16', 'fe80::/10')
const isLinkLocalMulticast = either('224.0.0.0/24', 'ff02::/16')
const isMulticast = either('224.0.0.0/4', 'ff00::/8')
const isBroadcast = isIn('255.255.255.255/32')

function toAddress(text: string): Result {
  return (
    readAddress(text) ?? new CelFailure(`IP Address '${text.slice(0, 100)}' parse error during conversion from string`)
  )
}

function toNetwork(text: string): Result {
  return (
    readNetwork(text) ??
    new CelFailure(`network address parse error during conversion from string: ${text.slice(0, 100)}`)
  )
}

/** To read an address, with or without a network, or to write one. */
const stepsOfAddress = 150
/** To look whether an address is in one of a few networks. */
const stepsOfLook = 50

function spending(steps: number, run: (args: readonly Value[]) => Result): Run {
  return (args, meter) => {
    meter.spend(steps)
    return run(args)
  }
}

const reading = (run: (args: readonly Value[]) => Result): Run => spending(stepsOfAddress, run)
const looking = (run: (args: readonly Value[]) => Result): Run => spending(stepsOfLook, run)

function withAddress(text: string, next: (address: Address) => Result): Result {
  const address = toAddress(text)
  return address instanceof Address ? next(address) : address
}

function holdsNetwork(one: Network, other: Network): boolean {
  return holds(one, other.address) && one.length <= other.length
}

function masked({ address, length }: Network): Network {
  const rest = BigInt(widthOf(address) - length)
  return new Network(new Address(prefixOf(address, length) << rest, address.family), length)
}

const addresses: Functions = {
  'ip(string) net.IP': reading(([a]) => toAddress(a as string)),
  'isIP(string) bool': reading(([a]) => readAddress(a as string) !== undefined),
  'ip.isCanonical(string) bool': spending(2 * stepsOfAddress, ([a]) =>
    withAddress(a as string, (address) => showAddress(address) === (a as string)),
  ),
  'string(net.IP) string': reading(([a]) => showAddress(a as Address)),
  'net.IP.family() int': ([a]) => BigInt((a as Address).family),
  'net.IP.isUnspecified() bool': looking(([a]) => isUnspecified(a)),
  'net.IP.isLoopback() bool': looking(([a]) => isLoopback(a)),
  'net.IP.isLinkLocalMulticast() bool': looking(([a]) => isLinkLocalMulticast(a)),
  'net.IP.isLinkLocalUnicast() bool': looking(([a]) => isLinkLocal(a)),
  'net.IP.isGlobalUnicast() bool': looking(
    ([a]) => ![isUnspecified, isLoopback, isMulticast, isLinkLocal, isBroadcast].some((is) => is(a)),
  ),
}

const networks: Functions = {
  'cidr(string) net.CIDR': reading(([a]) => toNetwork(a as string)),
  'isCIDR(string) bool': reading(([a]) => readNetwork(a as string) !== undefined),
  'string(net.CIDR) string': reading(([a]) => `${showAddress((a as Network).address)}/${(a as Network).length}`),
  'net.CIDR.containsIP(net.IP) bool': looking(([a, b]) => holds(a as Network, b as Address)),
  'net.CIDR.containsIP(string) bool': reading(([a, b]) =>
    withAddress(b as string, (address) => holds(a as Network, address)),
  ),
  'net.CIDR.containsCIDR(net.CIDR) bool': looking(([a, b]) => holdsNetwork(a as Network, b as Network)),
  'net.CIDR.containsCIDR(string) bool': reading(([a, b]) => {
    const other = toNetwork(b as string)
    return other instanceof Network ? holdsNetwork(a as Network, other) : other
  }),
  'net.CIDR.ip() net.IP': ([a]) => (a as Network).address,
  'net.CIDR.masked() net.CIDR': looking(([a]) => masked(a as Network)),
  'net.CIDR.prefixLength() int': ([a]) => BigInt((a as Network).length),
}

export const network: Functions = { ...addresses, ...networks }
