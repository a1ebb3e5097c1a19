//! Lists of all objects, as they are: pages that were sent before, and in which nothing has happened since, are sent again.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use tokio::task::JoinHandle;
use wheelwright_repository::{Continuation, Cursor, ErrorKind, Name, PageRequest, RepositoryError, StoreError};

use super::{
    list::{ListForm, PAGES_OPENED, WINDOW, broken_off},
    refused::About,
    route::Target,
    status::Status,
};
use crate::{
    answer::{Answer, AnswerBody},
    budget::{Allowance, Charge, PATIENCE, Purpose},
    page::{ReadError, read_page},
    pieces::{PieceSender, pieces},
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
    allowance: Allowance,
}

/// A page with the charge for it, or the task that makes it.
#[derive(Debug)]
enum Making {
    Done(Bytes, Charge),
    Underway(JoinHandle<Result<(Bytes, Charge), RepositoryError>>),
}

impl WholeList {
    /// A list of now; none if the store cannot list a moment page by page.
    pub(super) async fn begin(target: &Target, allowance: &Allowance) -> Result<Option<Self>, Status> {
        let scope = target.scope()?;
        let collection = &target.resource.collection;
        let begun = async {
            let moment = collection.repository().cursor().await?;
            let next = collection.position(scope.as_ref(), Some(&moment), None).await?;
            Ok((moment, next))
        };
        let (moment, next) = begun.await.map_err(|error| About::new(&target.resource, "").status(error))?;
        let Some(next) = next else { return Ok(None) };
        let (target, allowance, next) = (target.clone(), allowance.clone(), Some((next, None)));
        Ok(Some(Self { target, scope, moment, next, pages: VecDeque::new(), allowance }))
    }

    /// The list: at once if it is short, and page by page if it is long.
    pub(super) async fn answer(mut self, form: &ListForm) -> Result<Answer, Status> {
        let mut bytes = form.begin()?;
        let (mut first, mut charge) = self.page().await?;
        while first.is_empty() && !self.is_done() {
            (first, charge) = self.page().await?;
        }
        // Every object has a comma before it.
        let first = first.slice(first.len().min(1)..);
        let end = form.end_of(&self.moment)?;
        if self.is_done() {
            bytes.extend_from_slice(&first);
            bytes.extend_from_slice(&end);
            return Ok(form.answer(bytes));
        }
        let (sender, pieces) = pieces(&self.allowance, Purpose::Lists, WINDOW);
        let answer = Answer { body: AnswerBody::Pieces(pieces), ..form.answer(Vec::new()) };
        work::spawn(async move {
            self.send(sender, [bytes.into(), first, end.into()], charge).await;
        });
        Ok(answer)
    }

    /// Sends the beginning, the first page, the other pages one after the other, and the end.
    async fn send(mut self, sender: PieceSender, parts: [Bytes; 3], mut charge: Charge) {
        let [begin, mut page, end] = parts;
        let Ok(()) = sender.send(begin, sender.nothing()) else { return };
        // A client that does not want the rest has left.
        while sender.send(page, charge).is_ok() && sender.ready().await.is_ok() {
            if self.is_done() {
                let _ = sender.send(end, sender.nothing());
                return;
            }
            (page, charge) = match self.page().await {
                Ok(page) => page,
                Err(status) => {
                    status.log("a list was broken off");
                    let _ = sender.send(broken_off(Vec::new(), &status), sender.nothing());
                    return;
                }
            };
        }
    }

    fn is_done(&self) -> bool {
        self.next.is_none() && self.pages.is_empty()
    }

    /// The next page. Those after it are made meanwhile.
    async fn page(&mut self) -> Result<(Bytes, Charge), Status> {
        while self.pages.len() < PAGES_OPENED
            && let Some((position, after)) = self.next.clone()
        {
            match self.make(position, after).await {
                Ok(page) => self.pages.push_back(page),
                // A list that waits for memory holds none.
                Err(ReadError::OutOfMemory(_)) if !self.pages.is_empty() => break,
                Err(ReadError::OutOfMemory(exceeded)) => return Err(Status::out_of_memory(exceeded)),
                Err(ReadError::Repository(error)) => return Err(self.failed(error)),
            }
        }
        match self.pages.pop_front() {
            None => Ok((Bytes::new(), self.allowance.nothing(Purpose::Lists))),
            Some(Making::Done(page, charge)) => Ok((page, charge)),
            Some(Making::Underway(page)) => {
                let page = page.await.map_err(|error| Status::internal(error.to_string()))?;
                page.map_err(|error| self.failed(error))
            }
        }
    }

    async fn make(&mut self, position: Continuation, after: Option<Name>) -> Result<Making, ReadError> {
        let resource = self.target.resource.clone();
        let (collection, scope) = (&resource.collection, self.scope.as_ref());
        let patience = if self.pages.is_empty() { PATIENCE } else { Duration::ZERO };
        let known = resource.shelf.page(section(&*resource), collection, (scope, after.as_ref()), &self.moment);
        if let Some(page) = known.await.map_err(ReadError::Repository)? {
            let charge = self.allowance.hold_within(patience, Purpose::Lists, page.json.len()).await;
            let charge = charge.map_err(ReadError::OutOfMemory)?;
            self.next = match page.last {
                Some(last) => {
                    let next = collection.position(scope, Some(&self.moment), Some(&last)).await;
                    let lost =
                        || StoreError::new(ErrorKind::TooOld, "the store cannot go on with a list; begin it anew");
                    let next = next.and_then(|next| Ok(next.ok_or_else(lost)?));
                    Some((next.map_err(ReadError::Repository)?, Some(last)))
                }
                None => None,
            };
            return Ok(Making::Done(page.json, charge));
        }
        let page = PageRequest { limit: None, after: Some(position) };
        let (unopened, mut charge) = read_page(collection, scope, page, (&self.allowance, patience)).await?;
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
            charge.resize(page.json.len());
            Ok((page.json, charge))
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
