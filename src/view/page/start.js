/* start.js - small helpers that every part uses. */
const $ = id => document.getElementById(id);
const make = (tag, props = {}, ...children) => { const e = Object.assign(document.createElement(tag), props); e.append(...children); return e; };
const live = !!document.querySelector('meta[name=regard-live]');
let drawnAt = 0; /* when the first picture was there, counted from the beginning of the page */
const testing = /[?#&]test/.test(location.href);
