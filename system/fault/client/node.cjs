// Has what a Node program calls over HTTP go through the proxy of HTTP_PROXY:
// fetch, undici, http and https. Versions of Node that can do so by themselves
// are told to by NODE_USE_ENV_PROXY and are left alone. Servers that MCP's SDK starts
// are started behind the command of THRESH_MCP_SHIM.
'use strict';

const shim = JSON.parse(process.env.THRESH_MCP_SHIM || '[]');
if (shim.length > 0) {
  const processes = require('node:child_process');
  const spawn = processes.spawn;
  processes.spawn = function (command, args, ...rest) {
    const sdk = /[\\/]@modelcontextprotocol[\\/]/.test(new Error().stack);
    if (!sdk || !Array.isArray(args) || command === shim[0]) return spawn.apply(this, arguments);
    return spawn.call(this, shim[0], [...shim.slice(1), command, ...args], ...rest);
  };
  require('node:module').syncBuiltinESMExports();
}

const own = process.allowedNodeEnvironmentFlags.has('--use-env-proxy');
const address = process.env.HTTP_PROXY || '';

if (!own && address.startsWith('http://')) {
  const http = require('node:http');
  const https = require('node:https');
  const net = require('node:net');
  const tls = require('node:tls');
  const proxy = new URL(address);
  const direct = http.Agent.prototype.createConnection;
  const secured = https.Agent.prototype.createConnection;
  const plain = new http.Agent();
  plain.createConnection = direct;

  // tunnel opens a connection to a server by way of the proxy.
  const tunnel = (host, port, done) => {
    const name = net.isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
    const headers = { Host: name };
    if (proxy.username) {
      const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
      headers['Proxy-Authorization'] = 'Basic ' + Buffer.from(user).toString('base64');
    }
    const request = http.request({ agent: plain, host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: name, headers });
    request.once('error', done);
    request.once('connect', (response, socket, head) => {
      request.removeListener('error', done);
      if (response.statusCode !== 200) {
        socket.destroy();
        done(new Error(`the proxy refused ${name}: ${response.statusCode}`));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      done(null, socket);
    });
    request.end();
  };

  // A program that heeds the variables by itself asks for the proxy's address,
  // and is left to it.
  const elsewhere = (options, done) =>
    typeof options === 'object' && options !== null && typeof done === 'function' && !options.socketPath && !options.socket &&
    !(String(options.port) === proxy.port && (options.host || options.hostname) === proxy.hostname);

  http.Agent.prototype.createConnection = function (options, done) {
    if (!elsewhere(options, done)) return direct.apply(this, arguments);
    tunnel(options.host || 'localhost', options.port || 80, done);
  };
  https.Agent.prototype.createConnection = function (options, done) {
    if (!elsewhere(options, done)) return secured.apply(this, arguments);
    tunnel(options.host || 'localhost', options.port || 443, (error, socket) => {
      if (error) return done(error);
      done(null, secured.call(this, { ...options, socket }));
    });
  };

  // The dispatcher of fetch belongs to a copy of undici inside of Node, which is
  // there once fetch is, and which has no other name than that of its class.
  const place = Symbol.for('undici.globalDispatcher.1');
  void globalThis.Response;
  const Dispatcher = globalThis[place] && globalThis[place].constructor;
  if (Dispatcher && Dispatcher.name === 'Agent') {
    globalThis[place] = new Dispatcher({
      connect(options, done) {
        const secure = options.protocol === 'https:';
        const host = options.hostname.replace(/^\[|\]$/g, '');
        tunnel(host, options.port || (secure ? 443 : 80), (error, socket) => {
          if (error || !secure) return done(error, socket);
          const servername = options.servername || (net.isIP(host) ? '' : host);
          const opened = tls.connect({ socket, servername, host, ALPNProtocols: ['http/1.1'] });
          opened.once('error', done);
          opened.once('secureConnect', () => {
            opened.removeListener('error', done);
            done(null, opened);
          });
        });
      },
    });
  }
}
