//! Lists of all objects, as they are: pages that were sent before, and in which nothing has happened since, are sent again.

use std::{collections::VecDeque, mem};

use bytes::Bytes;
use tokio::{sync::mpsc, task::JoinHandle};
use wheelwright_repository::{Continuation, Cursor, ErrorKind, Name, PageRequest, RepositoryError, StoreError};

use super::{
    list::{ListForm, PAGES_AHEAD, PAGES_OPENED, broken_off},
    refused::About,
    route::Target,
    status::Status,
};
use crate::{
    answer::{Answer, AnswerBody},
    shelf::{ShownPage, exact, section},
    work,
};

/// A list of all objects that is under way.
#[derive(Debug)]
pub(super) struct WholeList {
    target: Target,
    scope: Option<Name>,
    /// The moment that it shows.
    moment: Cursor,
    /// Where it goes on, and the object before that; none once all pages are under way.
    next: Option<(Continuation, Option<Name>)>,
    /// The next pages, in their order.
    pages: VecDeque<Making>,
}

/// A page, or whoever makes it.
#[derive(Debug)]
enum Making {
    Done(Bytes),
    Underway(JoinHandle<Result<Bytes, RepositoryError>>),
}

impl WholeList {
    /// A list of now; none if the store cannot list a moment page by page.
    pub(super) async fn begin(target: &Target) -> Result<Option<Self>, Status> {
        let scope = target.scope()?;
        let collection = &target.resource.collection;
        let begun = async {
            let moment = collection.repository().cursor().await?;
            let next = collection.position(scope.as_ref(), Some(&moment), None).await?;
            Ok((moment, next))
        };
        let (moment, next) = begun.await.map_err(|error| About::new(&target.resource, "").status(error))?;
        let Some(next) = next else { return Ok(None) };
        Ok(Some(Self { target: target.clone(), scope, moment, next: Some((next, None)), pages: VecDeque::new() }))
    }

    /// The list: at once if it is short, and page by page if it is long.
    pub(super) async fn answer(mut self, form: &ListForm) -> Result<Answer, Status> {
        let mut bytes = form.begin()?;
        let mut first = self.page().await?;
        while first.is_empty() && !self.is_done() {
            first = self.page().await?;
        }
        // Every object has a comma before it.
        let first = first.slice(first.len().min(1)..);
        let end = form.end_of(&self.moment)?;
        if self.is_done() {
            bytes.extend_from_slice(&first);
            bytes.extend_from_slice(&end);
            return Ok(form.answer(bytes));
        }
        let (sender, pieces) = mpsc::channel(PAGES_AHEAD);
        let answer = Answer { body: AnswerBody::Pieces(pieces), ..form.answer(Vec::new()) };
        work::spawn(async move {
            let mut piece = Bytes::from(bytes);
            let mut following = Some(first);
            // Whoever does not want the rest is gone, and so is this.
            while piece.is_empty() || sender.send(mem::take(&mut piece)).await.is_ok() {
                piece = match following.take() {
                    Some(first) => first,
                    None if self.is_done() => break,
                    None => match self.page().await {
                        Ok(page) => page,
                        Err(status) => {
                            tracing::error!(error = %status, "a list was broken off");
                            let _ = sender.send(broken_off(Vec::new(), &status)).await;
                            return;
                        }
                    },
                };
            }
            let _ = sender.send(Bytes::from(end)).await;
        });
        Ok(answer)
    }

    fn is_done(&self) -> bool {
        self.next.is_none() && self.pages.is_empty()
    }

    /// The next page. Those after it are made meanwhile.
    async fn page(&mut self) -> Result<Bytes, Status> {
        while self.pages.len() < PAGES_OPENED
            && let Some((position, after)) = self.next.take()
        {
            let page = self.make(position, after).await.map_err(|error| self.failed(error))?;
            self.pages.push_back(page);
        }
        match self.pages.pop_front() {
            None => Ok(Bytes::new()),
            Some(Making::Done(page)) => Ok(page),
            Some(Making::Underway(page)) => {
                let page = page.await.map_err(|error| Status::internal(error.to_string()))?;
                page.map_err(|error| self.failed(error))
            }
        }
    }

    async fn make(&mut self, position: Continuation, after: Option<Name>) -> Result<Making, RepositoryError> {
        let resource = self.target.resource.clone();
        let (collection, scope) = (&resource.collection, self.scope.as_ref());
        let known = resource.shelf.page(section(&*resource), collection, (scope, after.as_ref()), &self.moment).await?;
        if let Some(page) = known {
            self.next = match page.last {
                Some(last) => {
                    let next = collection.position(scope, Some(&self.moment), Some(&last)).await?;
                    let lost =
                        || StoreError::new(ErrorKind::TooOld, "the store cannot go on with a list; begin it anew");
                    Some((next.ok_or_else(lost)?, Some(last)))
                }
                None => None,
            };
            return Ok(Making::Done(page.json));
        }
        let page = PageRequest { limit: None, after: Some(position) };
        let unopened = collection.list_unopened(scope, page).await?;
        // A page may be empty although the list goes on.
        let last = unopened.last().or(after.as_ref()).filter(|_| unopened.next.is_some()).cloned();
        self.next = unopened.next.clone().map(|next| (next, last.clone()));
        let (target, moment, scope) = (self.target.clone(), self.moment.clone(), self.scope.clone());
        Ok(Making::Underway(work::spawn(async move {
            work::step(unopened.bytes()).await;
            let mut json = Vec::new();
            if unopened.last().is_some() {
                json.push(b',');
                unopened.write(target.view(), &mut json)?;
            }
            let page = ShownPage { json: exact(json), moment, last };
            let resource = &*target.resource;
            let place = (scope.as_ref(), after.as_ref());
            resource.shelf.keep_page(section(resource), &resource.collection, place, page.clone());
            Ok(page.json)
        })))
    }

    fn failed(&self, error: RepositoryError) -> Status {
        match (error.store(), error.document()) {
            (None, Some(name)) => {
                let message = format!("{error}; list in pages, with a `limit`, to read the others");
                Status::internal(message).about(&self.target.resource, name.last())
            }
            (None, None) => Status::internal(error.to_string()),
            (Some(_), _) => About::new(&self.target.resource, "").status(error),
        }
    }
}
