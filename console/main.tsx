// The console's entry script: renders the frame.
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { queryClient } from './actions.js';
import { App } from './app.js';
import { startLoading } from './frame/pages.js';
import { language } from './language.js';
import { watchLeaving } from './leave.js';
import './style.css';

const place = document.getElementById('console');
if (!place) throw new Error('index.html has no place for the console.');

const base = new URL(document.baseURI).pathname.replace(/\/$/, '');
document.documentElement.lang = language;
watchLeaving();
startLoading(window.location.pathname.slice(base.length) || '/');

createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Router base={base}>
        <App />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
);
