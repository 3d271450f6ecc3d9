/**
 * Finds the proxy for a server: `proxy-url` of the kubeconfig, else the environment as curl and kubectl read it.
 * Pure.
 */
import net from 'node:net'
import { failure } from '../errors/failure.ts'
import { unusableProxy } from './findings/connection.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export function proxyFor(server: string, configured: string | undefined, env: Environment): string | undefined {
  if (configured) return checkProxy(configured)
  const url = new URL(server)
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = variable(env, name)
  if (!proxy || isLoopback(hostName(url)) || isExcluded(url, variable(env, 'NO_PROXY') ?? '')) return undefined
  return checkProxy(proxy.includes('://') ? proxy : `http://${proxy}`)
}

function variable(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toLowerCase()] || undefined
}

const schemes = ['http:', 'https:', 'socks5:', 'socks5h:']

function checkProxy(proxy: string): string {
  if (!URL.canParse(proxy)) throw failure(unusableProxy, { proxy: 'given', reason: 'it is not a URL' })
  const url = new URL(proxy)
  if (!schemes.includes(url.protocol)) {
    throw failure(unusableProxy, {
      proxy: proxyWithoutCredentials(proxy),
      reason: `the scheme ${url.protocol.slice(0, -1)} is not supported`,
    })
  }
  return url.protocol === 'socks5h:' ? proxy.replace(/^socks5h/, 'socks5') : proxy
}

/** The URL without its password, for messages. */
export function proxyWithoutCredentials(proxy: string): string {
  const { protocol, host } = new URL(proxy)
  return `${protocol}//${host}`
}

/** `NO_PROXY`: `*`, host names (including subdomains), addresses, CIDRs, each with an optional port. */
function isExcluded(url: URL, list: string): boolean {
  const host = hostName(url)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .some((rule) => {
      if (rule === '*') return true
      if (rule.includes('/')) return insideCidr(host, rule)
      const { name, rulePort } = splitPort(rule)
      if (rulePort !== undefined && rulePort !== port) return false
      if (net.isIP(name) !== 0) return name === host
      const suffix = name.replace(/^\*?\./, '')
      return host.endsWith(`.${suffix}`) || (host === suffix && !name.startsWith('.'))
    })
}

function splitPort(rule: string): { readonly name: string; readonly rulePort?: string } {
  const bracketed = /^\[(.+)\](?::(\d+))?$/.exec(rule)
  const plain = bracketed ?? (net.isIPv6(rule) ? null : /^([^:]+):(\d+)$/.exec(rule))
  if (!plain?.[1]) return { name: rule }
  return plain[2] === undefined ? { name: plain[1] } : { name: plain[1], rulePort: plain[2] }
}

function insideCidr(host: string, cidr: string): boolean {
  const [prefix = '', length = ''] = cidr.split('/')
  const family = net.isIP(host)
  if (family === 0 || net.isIP(prefix) !== family || !/^\d{1,3}$/.test(length)) return false
  if (Number(length) > (family === 4 ? 32 : 128)) return false
  const list = new net.BlockList()
  const name = family === 4 ? 'ipv4' : 'ipv6'
  list.addSubnet(prefix, Number(length), name)
  return list.check(host, name)
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.startsWith('127.') || host === '::1'
}

function hostName(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
}
